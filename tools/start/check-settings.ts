/** What is wrong with the settings of all services, told before anything is started. */
import { ConfigError } from '#libs/config';
import { loadServiceConfig } from '../../libs/servers/service-settings.ts';
import { serviceNames, settingsOf } from './environment.ts';

type Settings = Readonly<Record<string, string>>;

/** In place of what the servers that are started here will bring. */
const placeholders: Settings = {
  DATABASE_URL: 'postgresql://127.0.0.1/coherence',
  NATS_URL: 'nats://127.0.0.1',
  S3_ENDPOINT: 'http://127.0.0.1',
  S3_ACCESS_KEY_ID: 'brought-by-the-server',
  S3_SECRET_ACCESS_KEY: 'brought-by-the-server-itself',
};
/** Those that belong together: who brings the first brings all. */
const storeSettings = ['S3_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'];

/**
 * As the services will read them.
 * @param settings without those of servers that are not started yet
 * @throws Error with every problem, each once
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
