/** Merges of people, for superusers and operators (rules/people#merge-people; I3, I5). */
import { isPossibleId } from '#libs/contract';
import { AppError, appError, badRequest, notFound } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import type { IdempotencyStore } from '#libs/idempotency';
import type { Jobs } from '#libs/jobs';
import {
  type Bus,
  type CallContext,
  type HandlersOf,
  jsonPage,
  withoutActor,
  type RawJson,
  rawJson,
  type RequestContext,
} from '#libs/nats';
import { type Database, transactionOrDryRun, type Tx } from '#libs/orm';
import { getPerson } from '../api-objects/index.ts';
import { findPerson } from '../person-data/index.ts';
import type { mergingRpcs } from './contract.ts';
import { type Merge, mergeIn } from './merge.ts';
import { findMerged, findMergedByIds, listDuplicates } from './statements.ts';
import { finishMerge } from './workers.ts';

export interface MergingOptions {
  readonly db: Database;
  readonly jobs: Jobs;
  readonly eventOutbox: EventOutbox;
  readonly idempotency: IdempotencyStore;
  readonly bus: Bus;
}

type MergingHandlers = HandlersOf<typeof mergingRpcs>;

export function createMergingHandlers({ db, jobs, idempotency, bus, eventOutbox }: MergingOptions): MergingHandlers {
  /** From here on the merge will be whole, if not now then by its job: what cannot be reached now fails nobody's request. */
  const finishSoon = async (merge: Merge, context: RequestContext): Promise<void> => {
    const own: CallContext = withoutActor(context);
    await finishMerge(bus, merge, own).catch((error: unknown) => context.logger.warn({ err: error }, 'the job will finish the merge'));
  };
  return {
    mergePerson: async (request, context) => {
      const { person_id: goneId, into: intoId } = request;
      if (context.actor?.kind !== 'user' || !context.actor.superuser) {
        throw new AppError({ code: 'permission_denied', message: 'Merging people needs a superuser.' });
      }
      const merges: Merge[] = [];
      const merging = async (tx: Tx): Promise<RawJson> => {
        if (goneId === intoId) throw badRequest('into must be another person.');
        if (!isPossibleId(goneId) || !isPossibleId(intoId)) throw notFound();
        await mergeIn(tx, { jobs, eventOutbox }, { goneId, intoId }, context);
        merges.push({ goneId, intoId });
        const row = await getPerson(tx, { id: intoId });
        if (row === undefined) throw notFound();
        return rawJson(`{"person":${row.body}}`);
      };
      // Tried again it would find that the person is gone.
      const reply = await idempotency.run(context, request, merging, { isAuthorized: true });
      const merge = merges.at(-1);
      if (merge !== undefined) await finishSoon(merge, context);
      return reply;
    },
    mergePeople: async ({ keep: keepText, gone: goneText, dry_run: dryRun }, context) => {
      const keep = await getLiving(db, keepText);
      const merged = await findMerged(db, { who: goneText.trim(), intoId: keep.id });
      if (merged !== undefined) {
        if (!dryRun) await finishMerge(bus, { goneId: merged.gone_id, intoId: keep.id }, withoutActor(context));
        return { outcome: 'done', keep, gone: { id: merged.gone_id, name: null }, counts: {} };
      }
      const gone = await getLiving(db, goneText);
      if (gone.id === keep.id) throw appError('bad_request', 'same_person', `Both are person ${keep.id}.`);
      const merge = { goneId: gone.id, intoId: keep.id };
      const counts = await transactionOrDryRun(jobs, dryRun, (tx) => mergeIn(tx, { jobs, eventOutbox }, merge, context));
      if (!dryRun) await finishSoon(merge, context);
      return { outcome: dryRun ? 'would_merge' : 'merged', keep, gone, counts };
    },
    findMerged: async ({ ids }) => ({ items: [...(await findMergedByIds(db, { ids }))] }),
    listDuplicates: async ({ after, limit }) => {
      const rows = await listDuplicates(db, { after, limit });
      const next = rows.length < limit ? null : (rows.at(-1)?.place ?? null);
      return jsonPage(
        rows.map(({ item }) => item),
        next,
      );
    },
  };
}

/** @throws AppError 404 `person_not_found`, 409 `person_ambiguous` */
async function getLiving(db: Database, who: string): Promise<{ id: number; name: string }> {
  const { id, name } = await findPerson(db, who.trim());
  if (name === null) throw appError('not_found', 'person_not_found', `Person ${id} was erased.`);
  return { id, name };
}
