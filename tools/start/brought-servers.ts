/** PostgreSQL, NATS and the object store that the caller brings: looked at before anything is started. */
import { buildDatabaseUrl, buildNatsUrl } from '#libs/config';
import { checkBroker, checkDatabase, checkStore } from '../../cli/doctor/servers.ts';

type Settings = Readonly<Record<string, string | undefined>>;

/** @throws Error that tells of each one that cannot be used: what was tried, why it failed, what to do */
export async function checkBroughtServers(settings: Settings): Promise<void> {
  const { DATABASE_URL: database, NATS_URL: nats, S3_ENDPOINT: store } = settings;
  const results = await Promise.allSettled([
    database === undefined ? undefined : checkDatabase(buildDatabaseUrl(settings)),
    nats === undefined ? undefined : checkBroker(buildNatsUrl(settings)),
    store === undefined ? undefined : checkStore(settings),
  ]);
  const problems = results.flatMap((result) => (result.status === 'rejected' ? [(result.reason as Error).message] : []));
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
