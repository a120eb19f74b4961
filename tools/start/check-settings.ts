/** Validates the settings of all services before anything is started. */
import { ConfigError } from '#libs/infrastructure/config';
import { loadServiceConfig } from '../../libs/product/servers/service-settings.ts';
import { serviceNames, settingsOf } from './environment.ts';

type Settings = Readonly<Record<string, string>>;

/**
 * Values of settings that are known only after the servers have started. They replace missing values during validation.
 */
const placeholders: Settings = {
  DATABASE_URL: 'postgresql://127.0.0.1/coherence',
  NATS_URL: 'nats://127.0.0.1',
  S3_ENDPOINT: 'http://127.0.0.1',
  S3_ACCESS_KEY_ID: 'brought-by-the-server',
  S3_SECRET_ACCESS_KEY: 'brought-by-the-server-itself',
};
/** Settings of the object store. If S3_ENDPOINT is set, all of them must be set. */
const storeSettings = ['S3_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'];

/**
 * Validates the settings as the services do.
 * @param settings settings without the settings of servers that are not started yet
 * @throws Error that lists each problem once
 */
export async function checkSettings(settings: Settings): Promise<void> {
  const brought = settings['S3_ENDPOINT'] === undefined ? [] : storeSettings;
  const pending = Object.fromEntries(Object.entries(placeholders).filter(([name]) => !brought.includes(name)));
  const problems = new Set<string>();
  for (const service of serviceNames) {
    try {
      await loadServiceConfig(service, { ...pending, ...settingsOf(service, settings) });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const problem of error.problems) problems.add(problem);
    }
  }
  if (problems.size > 0) throw new ConfigError([...problems]);
}
