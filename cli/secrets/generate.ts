/** Generates the random secrets of an installation. */
import { randomBytes, randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { generateActorKeys } from '#libs/infrastructure/actor';
import { componentOf } from '#libs/infrastructure/release';

/** A title, and variables with their values. */
export type SecretGroup = readonly [title: string, variables: Readonly<Record<string, string>>];

/** Addresses of PostgreSQL and NATS for the Secret of the chart: `host:5432/database`, `host:4222`. */
export interface ServerAddresses {
  readonly postgresql: string;
  readonly nats: string;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const servicesDir = join(import.meta.dirname, '..', '..', 'services');

/** Without addresses: passwords for compose.yaml. With addresses: URLs with passwords for the Secret of the chart. */
export function generateSecrets(addresses?: ServerAddresses): SecretGroup[] {
  const { signingKey, publicKey } = generateActorKeys();
  const services = readdirSync(servicesDir).toSorted();
  // The role `audit` only verifies and truncates the audit logs (A2).
  const roles = [...services.filter((service) => service !== 'api-gateway'), 'audit'];
  return [
    [
      'Shared token of first-party clients, gate key of the login',
      { API_TOKEN: newSecret(), API_LOGIN_SECRET: newSecret() },
    ],
    ['Secret of booking webhooks, also set in Cal.com', { BOOKING_WEBHOOK_SECRET: newSecret() }],
    [
      'Actor assertions: signed by the gateway, verified by all services',
      { ACTOR_SIGNING_KEY: signingKey, ACTOR_PUBLIC_KEY: publicKey },
    ],
    ['Object store', { S3_ACCESS_KEY_ID: newAccessKeyId(), S3_SECRET_ACCESS_KEY: newSecret() }],
    [
      'PostgreSQL: the administrator, a role for each service, and one for the audit log',
      Object.fromEntries([
        describeAccount(
          'DATABASE_URL',
          'POSTGRES_PASSWORD',
          'ADMIN',
          'coherence',
          addresses && `postgresql://${addresses.postgresql}`,
        ),
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
    [
      'Passwords of the first account and of the demo workspace',
      { ADMIN_PASSWORD: newSecret(), DEMO_PASSWORD: newSecret() },
    ],
  ];
}

/** A setting without a default, with the restrictive value (D92). The Helm chart sets it in its values. */
export const decisions: SecretGroup = [
  'Access of accounts to conversations. `members`: conversations of their person and of events in their team authority; `open`: all',
  { CONVERSATION_ACCESS: 'members' },
];

/** Returns the text of an env file that docker compose, systemd and `kubectl create secret --from-env-file` accept. */
export function writeEnvFile(groups: readonly SecretGroup[]): string {
  const lines = groups.flatMap(([title, variables]) => [
    '',
    `# ${title}`,
    ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
  ]);
  return [
    '# Secrets of one installation of Coherence. Anyone who can read this file has full access.',
    ...lines,
    '',
  ].join('\n');
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

/**
 * Returns 43 characters that need no quoting in configuration files: letters, digits, `-` and `_`, starting with a
 * letter.
 */
function newSecret(): string {
  for (;;) {
    const text = randomBytes(32).toString('base64url');
    if (/^[A-Za-z]/.test(text)) return text;
  }
}

/** Returns 20 capital letters, the usual format of access keys of object stores. */
function newAccessKeyId(): string {
  return Array.from({ length: 20 }, () => letters[randomInt(letters.length)]).join('');
}
