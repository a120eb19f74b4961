/** What guards refuse, as callers and jobs see it; each refusal is counted. */
import { type AppError, notFound } from '#libs/errors';
import { type JobHandler, PermanentJobError } from '#libs/jobs';
import type { Metrics } from '#libs/telemetry';
import { boundedFields, type DataTooLarge, findTooLarge } from './data-size.ts';

export interface Refusals {
  /** An error that left the service's own work, as its caller gets it. */
  explain(error: unknown): unknown;
  /** 404, counted, for somebody who asked for a conversation that they may not know. */
  access(): AppError;
  /** A job that would store too much is dead at once, with the reason: it would be too much at every attempt. */
  worker<Payload>(handler: JobHandler<Payload>): JobHandler<Payload>;
}

export function createRefusals(metrics: Pick<Metrics, 'counter'>): Refusals {
  const tooLarge = metrics.counter('conversation_data_refused_total', 'Writes refused because a field would be too large (D63)', {
    field: boundedFields,
  });
  const find = (error: unknown): DataTooLarge | undefined => {
    const refusal = findTooLarge(error);
    if (refusal !== undefined) tooLarge.inc({ field: refusal.field }, 1);
    return refusal;
  };
  const access = metrics.counter('conversation_access_refused_total', 'Requests for conversations that the caller may not know (D69)');
  return {
    access: () => {
      access.inc();
      return notFound();
    },
    explain: (error) => find(error) ?? error,
    worker: (handler) => async (run) => {
      try {
        return await handler(run);
      } catch (error) {
        const refusal = find(error);
        throw refusal === undefined ? error : new PermanentJobError(refusal.message, { cause: error });
      }
    },
  };
}
