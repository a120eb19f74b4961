/** The broker after a restore: what it holds is about another state of the database (rules/operations#after-a-restore). */
import { jobAdminRpcs } from '#libs/contract';
import { AppError } from '#libs/errors';
import { rebuildQueue } from '#libs/jobs';
import { createLogger } from '#libs/logger';
import { createDatabase } from '#libs/orm';
import type { CliContext } from '../context.ts';
import { jobServices } from '../jobs.ts';

export interface Rebuilt {
  /** Messages that were dropped; null: the broker was not there. */
  readonly dropped: number | null;
  /** Jobs that will be sent, and messages of services for each other. */
  readonly jobs: number;
  readonly outbox: number;
}

/** Services that answer; none when no broker is there. */
export async function listRunning(context: CliContext): Promise<string[]> {
  const answers = await Promise.all(
    jobServices.map(async (service) => {
      try {
        await context.call(jobAdminRpcs(service).adminListJobs, { limit: 1 });
        return [service];
      } catch (error) {
        // A service that fails is there all the same.
        return error instanceof AppError && error.code !== 'unavailable' ? [service] : [];
      }
    }),
  );
  return answers.flat();
}

/**
 * Drops what the broker has of jobs and events, and marks every job and message of the database to be sent again. Webhooks stay: their senders were
 * told that they arrived. Run it while no service runs: a message between two of them may be nowhere else.
 */
export async function rebuildQueues(context: CliContext, url: string): Promise<Rebuilt> {
  const dropped = await dropMessages(context);
  const logger = createLogger({ service: 'cli', level: 'silent' });
  const total = { jobs: 0, outbox: 0 };
  for (const schema of jobServices) {
    const db = await createDatabase({ url, schema, poolSize: 1, logger, applicationName: 'restore' });
    try {
      const { jobs, outbox } = await rebuildQueue(db);
      total.jobs += jobs;
      total.outbox += outbox;
    } finally {
      await db.close();
    }
  }
  return { dropped, ...total };
}

async function dropMessages(context: CliContext): Promise<number | null> {
  try {
    const bus = await context.bus();
    const dropped = await Promise.all((['JOBS', 'EVENTS', 'FEED'] as const).map((stream) => bus.purgeStream(stream)));
    return dropped.reduce((sum, count) => sum + count, 0);
  } catch {
    return null; // away, or without streams: then nothing is left of them
  }
}
