/**
 * Rebuilds the queues after a restore: messages of the broker refer to another state of the database
 * (rules/operations#after-a-restore).
 */
import { statusRpcs } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { rebuildQueue } from '#libs/infrastructure/jobs';
import { createLogger } from '#libs/infrastructure/logger';
import { createDatabase } from '#libs/infrastructure/orm';
import type { CliContext } from '../context.ts';
import { serviceNames } from '../services.ts';

export interface Rebuilt {
  /** Dropped messages; null when the broker was not available. */
  readonly dropped: number | null;
  /** Jobs and outbox messages that will be sent again. */
  readonly jobs: number;
  readonly outbox: number;
}

/** Returns the services that reply; returns none when the broker is not available. */
export async function listRunning(context: CliContext): Promise<string[]> {
  const answers = await Promise.all(
    serviceNames.map(async (service) => {
      try {
        await context.call(statusRpcs(service).adminDescribeService, {});
        return [service];
      } catch (error) {
        // A service that replies with an error is running.
        return error instanceof AppError && error.code !== 'unavailable' ? [service] : [];
      }
    }),
  );
  return answers.flat();
}

/**
 * Drops jobs and events from the broker, and marks every job and outbox message of the database to be sent again.
 * Webhooks are not dropped, since they were acknowledged to their senders. No service may be running, because a message
 * between services can exist in the broker only.
 */
export async function rebuildQueues(context: CliContext, url: string): Promise<Rebuilt> {
  const dropped = await dropMessages(context);
  const logger = createLogger({ service: 'cli', level: 'silent' });
  const total = { jobs: 0, outbox: 0 };
  for (const schema of serviceNames) {
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
    return null; // the broker is not available or has no streams, so there is nothing to drop
  }
}
