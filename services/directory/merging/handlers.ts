/** Merges people, for superusers and operators (rules/people#merge-people; I3, I5). */
import { isPossibleId } from '#libs/contract';
import { AppError, appError, badRequest, notFound } from '#libs/errors';
import {
  type CallContext,
  type HandlersOf,
  jsonPage,
  withoutActor,
  type RawJson,
  rawJson,
  type RequestContext,
} from '#libs/nats';
import { type Database, transactionOrDryRun, type Tx } from '#libs/orm';
import type { Dependencies } from '../dependencies.ts';
import { getPerson } from '../api-objects/index.ts';
import { findPerson } from '../person-data/index.ts';
import type { mergingRpcs } from './contract.ts';
import { type Merge, mergeIn } from './merge.ts';
import { findMerged, findMergedByIds, listDuplicates } from './statements.ts';
import { finishMerge } from './workers.ts';

type MergingHandlers = HandlersOf<typeof mergingRpcs>;

export function createMergingHandlers({
  db,
  jobs,
  idempotency,
  bus,
  eventOutbox,
  history,
}: Pick<Dependencies, 'db' | 'jobs' | 'idempotency' | 'bus' | 'eventOutbox' | 'history'>): MergingHandlers {
  /**
   * Tries to finish the merge in other services at once. If this fails, the request still succeeds and the merge's job
   * finishes it.
   */
  const tryFinish = async (merge: Merge, context: RequestContext): Promise<void> => {
    const own: CallContext = withoutActor(context);
    await finishMerge(bus, merge, own).catch((error: unknown) =>
      context.logger.warn({ err: error }, 'merging: failed to finish a merge, its job will retry'),
    );
  };
  return {
    mergePerson: async (request, context) => {
      const { person_id: mergedId, into: intoId } = request;
      if (context.actor?.kind !== 'user' || !context.actor.superuser) {
        throw new AppError({ code: 'permission_denied', message: 'Only superusers can merge people.' });
      }
      const merges: Merge[] = [];
      const merging = async (tx: Tx): Promise<RawJson> => {
        if (mergedId === intoId) throw badRequest('into must be another person.');
        if (!isPossibleId(mergedId) || !isPossibleId(intoId)) throw notFound();
        await mergeIn(tx, { jobs, eventOutbox, history }, { mergedId, intoId }, context);
        merges.push({ mergedId, intoId });
        const row = await getPerson(tx, { id: intoId });
        if (row === undefined) throw notFound();
        return rawJson(`{"person":${row.body}}`);
      };
      // A repeated request skips the access check, which would find the person already removed.
      const reply = await idempotency.run(context, request, merging, { isAuthorized: true });
      const merge = merges.at(-1);
      if (merge !== undefined) await tryFinish(merge, context);
      return reply;
    },
    mergePeople: async ({ keep: keepText, gone: mergedText, dry_run: dryRun }, context) => {
      const keep = await requireExistingPerson(db, keepText);
      const merged = await findMerged(db, { reference: mergedText.trim(), intoId: keep.id });
      if (merged !== undefined) {
        if (!dryRun) await finishMerge(bus, { mergedId: merged.gone_id, intoId: keep.id }, withoutActor(context));
        return { outcome: 'done', keep, gone: { id: merged.gone_id, name: null }, counts: {} };
      }
      const mergedPerson = await requireExistingPerson(db, mergedText);
      if (mergedPerson.id === keep.id) throw appError('bad_request', 'same_person', `Both are person ${keep.id}.`);
      const merge = { mergedId: mergedPerson.id, intoId: keep.id };
      const counts = await transactionOrDryRun(jobs, dryRun, (tx) =>
        mergeIn(tx, { jobs, eventOutbox, history }, merge, context),
      );
      if (!dryRun) await tryFinish(merge, context);
      return { outcome: dryRun ? 'would_merge' : 'merged', keep, gone: mergedPerson, counts };
    },
    findMerged: async ({ ids }) => ({ items: [...(await findMergedByIds(db, { ids }))] }),
    listDuplicates: async ({ after, limit }) => {
      const rows = await listDuplicates(db, { after, limit });
      const next = rows.length < limit ? null : (rows.at(-1)?.cursor ?? null);
      return jsonPage(
        rows.map(({ item }) => item),
        next,
      );
    },
  };
}

/** Returns the person of a reference. @throws AppError 404 `person_not_found`, 409 `person_ambiguous` */
async function requireExistingPerson(db: Database, reference: string): Promise<{ id: number; name: string }> {
  const { id, name } = await findPerson(db, reference.trim());
  if (name === null) throw appError('not_found', 'person_not_found', `Person ${id} was erased.`);
  return { id, name };
}
