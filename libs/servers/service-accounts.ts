/**
 * One PostgreSQL role and one NATS user per service, as in production (deploy/helm): the services' connection URLs,
 * derived from those of the administrator.
 */
import { createHmac } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { componentOf } from '#libs/release';
import { describePermissions, type NatsUser, operator } from './nats-permissions.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const services = readdirSync(join(repoDir, 'services')).toSorted();

type Settings = Readonly<Record<string, string>>;

/** Password of one service, from the installation's secret. */
function passwordOf(secret: string, service: string): string {
  return createHmac('sha256', secret).update(service).digest('base64url');
}

/** Settings with a separate value for each service. */
const ownAddresses: readonly string[] = ['DATABASE_URL', 'NATS_URL'];

/** Name of a component's secret setting in an installation: `NATS_URL_GATEWAY`, but `API_TOKEN`. */
export function secretKeyOf(component: string, setting: string): string {
  return ownAddresses.includes(setting) ? `${setting}_${component.toUpperCase()}` : setting;
}

const variableOf = (kind: string, service: string): string => secretKeyOf(componentOf(service), kind);

function replaceUser(url: string, user: string, password: string): string {
  const changed = new URL(url);
  changed.username = user;
  changed.password = password;
  return changed.href;
}

/** Variables of an installation for a service's own URLs. */
export const listOwnAddresses = (service: string): string[] => ownAddresses.map((kind) => variableOf(kind, service));

/**
 * `DATABASE_URL_<SERVICE>` of every service with tables, and `DATABASE_URL_AUDIT` for verification and retention of the
 * audit log; the migration creates the roles from them.
 */
export function listDatabaseUrls(adminUrl: string, secret: string): Record<string, string> {
  const owners = [...services.filter((service) => service !== 'api-gateway'), 'audit'];
  return Object.fromEntries(
    owners.map((service) => [
      variableOf('DATABASE_URL', service),
      replaceUser(adminUrl, `coherence_${service}`, passwordOf(secret, service)),
    ]),
  );
}

/** `NATS_URL_<SERVICE>` of every service, and `NATS_URL_CLI`. */
export function listNatsUrls(adminUrl: string, secret: string): Record<string, string> {
  return Object.fromEntries(
    [...services, operator].map((user) => [
      variableOf('NATS_URL', user),
      replaceUser(adminUrl, user, passwordOf(secret, user)),
    ]),
  );
}

/** Settings of one service: its own URLs under the names in its schema. */
export function settingsOfService(service: string, settings: Settings): Record<string, string> {
  const own = { ...settings };
  for (const kind of ownAddresses) {
    const address = settings[variableOf(kind, service)];
    if (address !== undefined) own[kind] = address;
  }
  return own;
}

/**
 * The users for a server's configuration, with their passwords and permissions. `anyPrefix`: for servers shared by
 * installations with different NATS_SUBJECT_PREFIX, as in tests: the same permissions under every prefix.
 */
export function listNatsUsers(secret: string, options: { anyPrefix: boolean }): NatsUser[] {
  return describePermissions().map(({ user, permissions }) => ({
    user,
    password: passwordOf(secret, user),
    ...(permissions === undefined
      ? {}
      : {
          permissions: options.anyPrefix
            ? {
                publish: { allow: permissions.publish.allow.flatMap(underAnyPrefix) },
                subscribe: { allow: permissions.subscribe.allow.flatMap(underAnyPrefix) },
              }
            : permissions,
        }),
  }));
}

/** `media.>` → `*.media.>`; stream names start with the prefix, so they become `*`. */
function underAnyPrefix(subject: string): string[] {
  if (subject.startsWith('_INBOX.') || subject.startsWith('$SYS.')) return [subject];
  if (subject.startsWith('$SRV.')) return [subject.replace(/^(\$SRV\.[A-Z]+\.)[a-z-]+/, '$1*')];
  if (!subject.startsWith('$JS.')) return [subject, `*.${subject}`];
  const anyStream = subject.replace(/\.(JOBS|EVENTS|FEED|WEBHOOKS)(?=\.|$)/, '.*');
  return [anyStream, anyStream.replace(/(CONSUMER\.CREATE\.\*\.[^.]+)\./, '$1.*.')];
}

/** URL of the administrator, who has all permissions. */
export function adminNatsUrl(url: string, secret: string): string {
  return replaceUser(url, 'admin', passwordOf(secret, 'admin'));
}
