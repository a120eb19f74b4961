/** Checks external PostgreSQL, NATS and object store before anything is started. */
import { buildDatabaseUrl, buildNatsUrl } from '#libs/infrastructure/config';
import { checkBroker, checkDatabase, checkStore } from '../../cli/doctor/servers.ts';

type Settings = Readonly<Record<string, string | undefined>>;

/**
 * Checks the servers that the settings configure. @throws Error with the attempt, the cause and the fix for each server
 * that cannot be used
 */
export async function checkBroughtServers(settings: Settings): Promise<void> {
  const { DATABASE_URL: database, NATS_URL: nats, S3_ENDPOINT: store } = settings;
  const results = await Promise.allSettled([
    database === undefined ? undefined : checkDatabase(buildDatabaseUrl(settings)),
    nats === undefined ? undefined : checkBroker(buildNatsUrl(settings)),
    store === undefined ? undefined : checkStore(settings),
  ]);
  const problems = results.flatMap((result) =>
    result.status === 'rejected' ? [(result.reason as Error).message] : [],
  );
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
