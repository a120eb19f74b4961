/** The secrets of an installation, made anew: nothing of them is derived from anything. */
import { randomBytes, randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { generateActorKeys } from '#libs/actor';
import { componentOf } from '#libs/release';

/** Variables under the words that say what they are for. */
export type SecretGroup = readonly [title: string, variables: Readonly<Record<string, string>>];

/** Where PostgreSQL and NATS are, for the addresses that Kubernetes keeps in its Secret: `host:5432/database`, `host:4222`. */
export interface ServerAddresses {
  readonly postgresql: string;
  readonly nats: string;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const servicesDir = join(import.meta.dirname, '..', '..', 'services');

/** Without places: passwords of the accounts, as compose.yaml asks for them. With places: their addresses, as the chart's Secret has them. */
export function generateSecrets(addresses?: ServerAddresses): SecretGroup[] {
  const { signingKey, publicKey } = generateActorKeys();
  const services = readdirSync(servicesDir).toSorted();
  // The last verifies and shortens the audit logs, and nothing else (A2).
  const roles = [...services.filter((service) => service !== 'api-gateway'), 'audit'];
  return [
    ['Shared token of own clients, gate key of the login', { API_TOKEN: newSecret(), API_LOGIN_SECRET: newSecret() }],
    ['Signature of booking webhooks: the same in Cal.com', { BOOKING_WEBHOOK_SECRET: newSecret() }],
    ['Who acts: the gateway signs, everybody else verifies', { ACTOR_SIGNING_KEY: signingKey, ACTOR_PUBLIC_KEY: publicKey }],
    ['Object store', { S3_ACCESS_KEY_ID: newAccessKeyId(), S3_SECRET_ACCESS_KEY: newSecret() }],
    [
      'PostgreSQL: the administrator, a role for each service, and one for the audit log',
      Object.fromEntries([
        describeAccount('DATABASE_URL', 'POSTGRES_PASSWORD', 'ADMIN', 'coherence', addresses && `postgresql://${addresses.postgresql}`),
        ...roles.map((role) =>
          describeAccount(
            'DATABASE_URL',
            'POSTGRES_PASSWORD',
            nameOf(role),
            `coherence_${role}`,
            addresses && `postgresql://${addresses.postgresql}`,
          ),
        ),
      ]),
    ],
    [
      'NATS: the administrator, the admin CLI, and a user for each service',
      Object.fromEntries(
        ['admin', 'cli', ...services].map((user) =>
          describeAccount('NATS_URL', 'NATS_PASSWORD', nameOf(user), user, addresses && `nats://${addresses.nats}`),
        ),
      ),
    ],
    ['Passwords: of a first account, of the accounts of the demo workspace', { ADMIN_PASSWORD: newSecret(), DEMO_PASSWORD: newSecret() }],
  ];
}

/** Not a secret: what an installation has to decide, with the careful answer (D92). Where the chart is told, it is among its values. */
export const decisions: SecretGroup = [
  'Whose conversations an account with a token reads and writes. `members`: those of its person and of events in its team authority; `open`: all',
  { CONVERSATION_ACCESS: 'members' },
];

/** Lines of an env file, as docker compose, systemd and `kubectl create secret --from-env-file` read it. */
export function writeEnvFile(groups: readonly SecretGroup[]): string {
  const lines = groups.flatMap(([title, variables]) => [
    '',
    `# ${title}`,
    ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
  ]);
  return ['# Secrets of one installation of Coherence. Whoever reads this file may do everything.', ...lines, ''].join('\n');
}

const nameOf = (user: string): string => componentOf(user).toUpperCase();

function describeAccount(
  urlName: string,
  passwordName: string,
  account: string,
  user: string,
  address: string | undefined,
): [string, string] {
  const password = newSecret();
  return address === undefined
    ? [`${passwordName}_${account}`, password]
    : [`${urlName}_${account}`, address.replace('://', `://${user}:${password}@`)];
}

/** 43 characters that no configuration file takes for anything but text: letters, digits, `-` and `_`, a letter first. */
function newSecret(): string {
  for (;;) {
    const text = randomBytes(32).toString('base64url');
    if (/^[A-Za-z]/.test(text)) return text;
  }
}

/** As object stores make them: 20 capital letters. */
function newAccessKeyId(): string {
  return Array.from({ length: 20 }, () => letters[randomInt(letters.length)]).join('');
}
