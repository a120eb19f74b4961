/** The job that erases a person; it continues after failures and restarts (W20). */
import type { PayloadOf, ChangeOrigin } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { type JobHandler, type OnDead, PermanentJobError } from '#libs/infrastructure/jobs';
import type { Dependencies } from '../dependencies.ts';
import { eraseFromDirectory } from '../person-data/index.ts';
import { type ErasedService, erasureJobs } from './contract.ts';
import { type Counts, type ErasedPerson, erasureContext, otherServices, recordForRestores } from './erase.ts';
import { continueErasure, endErasure, saveService } from './statements.ts';

type Deps = Pick<Dependencies, 'db' | 'jobs' | 'bus' | 'eventOutbox' | 'history'>;

interface StoredService {
  readonly service: ErasedService;
  readonly state: string;
}

/**
 * Returns the handler of `directory.erase-person`. A service that fails does not stop the others, except that
 * conversations follow transcripts, and the directory follows all.
 */
export function createErasePerson(deps: Deps): JobHandler<PayloadOf<typeof erasureJobs.erasePerson>> {
  const { db, bus } = deps;
  return async (run) => {
    const { erasure_id: id } = run.payload;
    const row = await continueErasure(db, { id });
    if (row === undefined) return;
    const { round } = row;
    const person = JSON.parse(row.identity) as ErasedPerson;
    const by = JSON.parse(row.requester) as ChangeOrigin;
    const done = new Set(
      (JSON.parse(row.services) as StoredService[])
        .filter(({ state }) => state === 'done')
        .map(({ service }) => service),
    );
    let failure: unknown;
    const attempt = async (service: ErasedService, erase: () => Promise<Counts>): Promise<void> => {
      try {
        const counts = JSON.stringify(await erase());
        await saveService(db, { id, service, state: 'done', error: null, counts, round });
        done.add(service);
      } catch (error) {
        run.signal.throwIfAborted();
        failure ??= error;
        await saveService(db, { id, service, state: 'failed', error: describe(error), counts: '{}', round });
      }
    };
    if (done.size === 0)
      await recordForRestores(bus, person, run.context).catch(async (error: unknown) => {
        run.signal.throwIfAborted();
        await saveService(db, { id, service: 'media', state: 'failed', error: describe(error), counts: '{}', round });
        throw error;
      });
    for (const { service, erase } of otherServices(bus, person, { dryRun: false, by, context: run.context })) {
      if (done.has(service) || (service === 'conversations' && !done.has('transcripts'))) continue;
      await attempt(service, erase);
    }
    if (failure !== undefined) throw failure;
    const context = erasureContext(run.requestId, by);
    try {
      await run.complete(async (tx) => {
        const counts = await eraseFromDirectory(tx, deps, { id: row.person_id, operator: row.operator }, context);
        await saveService(tx, {
          id,
          service: 'directory',
          state: 'done',
          error: null,
          counts: JSON.stringify(counts),
          round,
        });
        await endErasure(tx, { id, state: 'done' });
      });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      await saveService(db, { id, service: 'directory', state: 'failed', error: describe(error), counts: '{}', round });
      // Later attempts would fail too.
      if (error.reason === 'person_merged') throw new PermanentJobError(error.message);
      throw error;
    }
  };
}

/** Marks the erasure of a dead job as failed. */
export const markFailedErasure: OnDead = async (tx, { type, payload }) => {
  if (type !== erasureJobs.erasePerson.type) return;
  const { erasure_id: id } = payload as PayloadOf<typeof erasureJobs.erasePerson>;
  await endErasure(tx, { id, state: 'failed' });
};

/** Text of a failure without data of the person. */
function describe(error: unknown): string {
  return error instanceof AppError ? `${error.reason ?? error.code}: ${error.message}`.slice(0, 500) : 'internal error';
}
