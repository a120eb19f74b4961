import {
  ConfigError,
  actorSettings,
  databaseSettings,
  loadConfig,
  logSettings,
  telemetrySettings,
  issuerSetting,
  natsSettings,
  replySettings,
  type ConfigOf,
} from '#libs/config';
import { Type } from '#libs/contract';

export const directorySettings = Type.Object({
  ...databaseSettings,
  ...natsSettings,
  ...replySettings,
  ...actorSettings,
  ...logSettings,
  ...telemetrySettings,
  OIDC_ISSUER: issuerSetting,
  OIDC_LINK_BY_EMAIL: Type.Boolean({
    default: false,
    description: 'whether an unknown subject is linked at its first use to the account with its email, which the issuer must have verified',
  }),
  RATE_LIMIT_LOGIN_PER_MINUTE: Type.Integer({
    default: 10,
    minimum: 0,
    description: 'logins per minute from one address, and as many tries of the gate key; 0 = no limit',
  }),
  RATE_LIMIT_LOGIN_FAILURES: Type.Integer({
    default: 5,
    minimum: 0,
    description: 'failed logins of one email from one address in 15 minutes, 0 = no limit',
  }),
  WORKLIST_TIME_ZONE: Type.String({ default: 'UTC', description: 'time zone of "today" in worklists, e.g. Europe/Berlin' }),
  BULK_ADD_WAIT_MS: Type.Integer({
    default: 10_000,
    minimum: 0,
    maximum: 20_000,
    description: 'time that a bulk-add waits for another one of the same holon',
  }),
});

export type DirectoryConfig = ConfigOf<typeof directorySettings.properties>;

/** @throws ConfigError with every problem */
export function loadDirectoryConfig(env?: Readonly<Record<string, string | undefined>>): DirectoryConfig {
  const config = loadConfig(directorySettings, env);
  if (!isTimeZone(config.WORKLIST_TIME_ZONE)) throw new ConfigError(['WORKLIST_TIME_ZONE is not the name of a time zone']);
  return config;
}

/** True when the runtime knows the time zone, such as `UTC` or `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
