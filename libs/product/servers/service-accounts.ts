/**
 * One PostgreSQL role and one NATS user per service, as in production (deploy/helm). The services' connection URLs are
 * derived from the administrator's URLs.
 */
import { createHmac } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { componentOf } from '#libs/infrastructure/release';
import { describePermissions, type NatsUser, operator } from './nats-permissions.ts';

const repoDir = join(import.meta.dirname, '..', '..', '..');
const services = readdirSync(join(repoDir, 'services')).toSorted();

type Settings = Readonly<Record<string, string>>;

/** Returns the password of one service, derived from the installation's secret. */
function passwordOf(secret: string, service: string): string {
  return createHmac('sha256', secret).update(service).digest('base64url');
}

/** Settings that have a separate value for each service. */
const ownAddresses: readonly string[] = ['DATABASE_URL', 'NATS_URL'];

/**
 * Returns the name of a component's secret setting in an installation: `NATS_URL_GATEWAY` for the component's own URL,
 * but `API_TOKEN` for a shared setting.
 */
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

/** Returns the names of an installation's variables for the service's own URLs. */
export const listOwnAddresses = (service: string): string[] => ownAddresses.map((kind) => variableOf(kind, service));

/**
 * Returns `DATABASE_URL_<SERVICE>` of every service with tables, and `DATABASE_URL_AUDIT` for verification and
 * retention of the audit log. The migration creates the roles from these URLs.
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

/** Returns `NATS_URL_<SERVICE>` of every service, and `NATS_URL_CLI`. */
export function listNatsUrls(adminUrl: string, secret: string): Record<string, string> {
  return Object.fromEntries(
    [...services, operator].map((user) => [
      variableOf('NATS_URL', user),
      replaceUser(adminUrl, user, passwordOf(secret, user)),
    ]),
  );
}

/** Returns the settings of one service. The service's own URLs have the names in its schema, e.g. `DATABASE_URL`. */
export function settingsOfService(service: string, settings: Settings): Record<string, string> {
  const own = { ...settings };
  for (const kind of ownAddresses) {
    const address = settings[variableOf(kind, service)];
    if (address !== undefined) own[kind] = address;
  }
  return own;
}

/**
 * Returns the users for a server's configuration, with passwords and permissions. `anyPrefix`: the permissions apply
 * under every prefix, for servers that are shared by installations with different NATS_SUBJECT_PREFIX, as in tests.
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

/**
 * Returns the subject for any prefix: `media.>` → `*.media.>`. Stream names start with the prefix, so they become `*`.
 */
function underAnyPrefix(subject: string): string[] {
  if (subject.startsWith('_INBOX.') || subject.startsWith('$SYS.')) return [subject];
  if (subject.startsWith('$SRV.')) return [subject.replace(/^(\$SRV\.[A-Z]+\.)[a-z-]+/, '$1*')];
  if (!subject.startsWith('$JS.')) return [subject, `*.${subject}`];
  const anyStream = subject.replace(/\.(JOBS|EVENTS|FEED|WEBHOOKS)(?=\.|$)/, '.*');
  return [anyStream, anyStream.replace(/(CONSUMER\.CREATE\.\*\.[^.]+)\./, '$1.*.')];
}

/** Returns the URL of the administrator, which has all permissions. */
export function adminNatsUrl(url: string, secret: string): string {
  return replaceUser(url, 'admin', passwordOf(secret, 'admin'));
}
