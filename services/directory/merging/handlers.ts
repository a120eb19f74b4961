/** Merges people for superusers, and lists possible duplicates for operators (rules/people#merge-people; I3, I5). */
import { requireOpsReader } from '#libs/infrastructure/actor';
import { isPossibleId } from '#libs/infrastructure/contract';
import { decodeCursor, encodeCursor } from '#libs/infrastructure/cursor';
import { AppError, appError, badRequest, notFound } from '#libs/infrastructure/errors';
import {
  type CallContext,
  type HandlersOf,
  jsonPage,
  withoutActor,
  type RawJson,
  rawJson,
  type RequestContext,
} from '#libs/infrastructure/nats';
import { transactionOrDryRun, type Tx } from '#libs/infrastructure/orm';
import type { Dependencies } from '../dependencies.ts';
import { getPerson } from '../api-objects/index.ts';
import { duplicatesPerPage, matchFields, type mergingRpcs } from './contract.ts';
import { type Merge, mergeIn } from './merge.ts';
import { findMergedByIds, listDuplicates } from './statements.ts';
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
      const { person_id: mergedId, into: intoId, dry_run: dryRun = false } = request;
      if (context.actor?.kind !== 'user' || !context.actor.superuser) {
        throw new AppError({ code: 'permission_denied', message: 'Only superusers can merge people.' });
      }
      const merging = async (tx: Tx) => {
        if (mergedId === intoId) throw badRequest('into must be another person.');
        if (!isPossibleId(mergedId) || !isPossibleId(intoId)) throw notFound();
        const counts = await mergeIn(tx, { jobs, eventOutbox, history }, { mergedId, intoId }, context);
        const row = await getPerson(tx, { id: intoId });
        if (row === undefined) throw notFound();
        return rawJson(`{"person":${row.body},"counts":${JSON.stringify(counts)}}`);
      };
      if (dryRun) return transactionOrDryRun(jobs, true, merging);
      let isMerged = false;
      const merge = async (tx: Tx): Promise<RawJson> => {
        isMerged = true;
        return merging(tx);
      };
      // A repeated request skips the access check, which would find the person already removed.
      const reply = await idempotency.run(context, request, merge, { isAuthorized: true });
      if (isMerged) await tryFinish({ mergedId, intoId }, context);
      return reply;
    },
    findMerged: async ({ ids }) => ({ items: [...(await findMergedByIds(db, { ids }))] }),
    listDuplicates: async ({ limit = duplicatesPerPage, cursor }, { actor }) => {
      requireOpsReader(actor);
      const after = cursor === undefined ? { afterField: null, afterValue: null } : readCursor(cursor);
      const rows = await listDuplicates(db, { ...after, limit: limit + 1 });
      const items = rows.slice(0, limit);
      const last = rows.length > limit ? items.at(-1) : undefined;
      return jsonPage(
        items.map(({ item }) => item),
        last === undefined ? null : encodeCursor([listName, last.field, last.value]),
      );
    },
  };
}

/** Name of the list of duplicates in its cursors: cursors of other lists are rejected. */
const listName = 'duplicates';

/** @throws AppError 400 `bad_cursor` */
function readCursor(cursor: string): { afterField: string; afterValue: string } {
  const [list, field, value] = decodeCursor(cursor) ?? [];
  if (list === listName && matchFields.some((name) => name === field) && typeof value === 'string')
    return { afterField: String(field), afterValue: value };
  throw appError('bad_request', 'bad_cursor', '`cursor` must be the `next` of an earlier page.');
}
