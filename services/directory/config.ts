import {
  ConfigError,
  actorSettings,
  databaseSettings,
  loadConfig,
  logSettings,
  telemetrySettings,
  historyRetentionSetting,
  issuerSetting,
  natsSettings,
  replySettings,
  type ConfigOf,
} from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';

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
    description: 'link an unknown subject on first use to the account with its verified email',
  }),
  RATE_LIMIT_LOGIN_PER_MINUTE: Type.Integer({
    default: 10,
    minimum: 0,
    description: 'logins per minute and address, and attempts with a wrong gate key; 0 = no limit',
  }),
  RATE_LIMIT_LOGIN_FAILURES: Type.Integer({
    default: 5,
    minimum: 0,
    description: 'failed logins per email and address in 15 minutes; 0 = no limit',
  }),
  WORKLIST_TIME_ZONE: Type.String({
    default: 'UTC',
    description: 'time zone of "today" in worklists, e.g. Europe/Berlin',
  }),
  HISTORY_RETENTION_DAYS: historyRetentionSetting,
  BULK_ADD_WAIT_MS: Type.Integer({
    default: 10_000,
    minimum: 0,
    maximum: 20_000,
    description: 'maximum wait of a bulk-add for another one of the same holon',
  }),
});

export type DirectoryConfig = ConfigOf<typeof directorySettings.properties>;

/** Reads the settings of the directory. @throws ConfigError listing every problem */
export function loadDirectoryConfig(env?: Readonly<Record<string, string | undefined>>): DirectoryConfig {
  const config = loadConfig(directorySettings, env);
  if (!isTimeZone(config.WORKLIST_TIME_ZONE))
    throw new ConfigError(['WORKLIST_TIME_ZONE is not the name of a time zone']);
  return config;
}

/** Whether the runtime knows the time zone, e.g. `Europe/Berlin`. */
function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
