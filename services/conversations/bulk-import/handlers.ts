/**
 * Bulk import of existing conversations (rules/workspace#bulk-import). Each call runs one set-based transaction, and
 * does not start pipeline jobs.
 */
import { listSome, recordAudit } from '#libs/infrastructure/audit';
import type { ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { AppError, badRequest } from '#libs/infrastructure/errors';
import type { EventOutbox } from '#libs/infrastructure/feed';
import { parseJson } from '#libs/infrastructure/json';
import type { RequestContext } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { conversations } from '../contract.ts';
import { DataTooLarge, findTooLarge } from '../refusals.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import type { CachedJourney } from '../directory-cache/index.ts';
import type { ImportItem, ImportedItem } from './contract.ts';
import { conversationFeed, emitAccessUpdated, emitCreated } from '../feed/index.ts';
import { findConversation } from '../statements.ts';
import { applyImport, lockImported, lockImports, planImport, type ImportedRow } from './statements.ts';

type Rpc = typeof conversations.rpcs.importConversations;

/** Fields whose changes publish `conversation.changed`. */
const notifiedFields = new Set(['journey', 'step', 'event', 'start', 'finish', 'participants', 'connected']);

export function createBulkImportHandlers(dependencies: Dependencies): Pick<Operations, 'importConversations'> {
  return {
    importConversations: (request, context) => importConversations(dependencies, request, context),
  };
}

/**
 * Imports the conversations of one call. On an error nothing is changed. @throws AppError 400 when an item refers to an
 * object that does not exist, or finishes before it starts; 413 when an item is too large
 */
async function importConversations(
  { db, jobs, eventOutbox, directory }: Dependencies,
  { items, dry_run: dryRun }: RequestOf<Rpc>,
  context: RequestContext,
): Promise<ReplyOf<Rpc>> {
  const batch = JSON.stringify(items);
  if (dryRun) return { items: (await plan(db, batch)).map(toImported) };
  if (items.some(refersToNothing))
    throw new AppError({ code: 'bad_request', message: 'An item refers to an object that does not exist' });
  const journeys = await directory.journeys.getMany([...new Set(items.flatMap(({ journey_id: id }) => id ?? []))]);
  const work = jobs.transaction(async (tx) => {
    await lockImports(tx);
    await lockImported(tx, { keys: items.map(({ key }) => key) });
    const imported = await applyImport(tx, { items: batch, withValues: false });
    requireOrder(imported);
    for (const row of imported) {
      if (row.is_new || row.id === null || row.fields === '[]') continue;
      if (!readFields(row).some(({ field }) => notifiedFields.has(field))) continue;
      await jobs.emit(tx, conversations.events.changed, { id: row.id }, { requestId: context.requestId });
    }
    await emitImported(eventOutbox, tx, imported, journeys);
    const changed = imported.filter((row) => row.is_new || row.fields !== '[]').map(({ id }) => id);
    if (changed.length > 0) recordAudit(tx, context, { changes: listSome(changed, 'conversations') });
    return imported;
  });
  const rows = await work.catch(async (error: unknown) => {
    if (findTooLarge(error) !== undefined) await plan(db, batch); // the plan throws an error that names the item
    throw error;
  });
  return { items: rows.map(toImported) };
}

/** Publishes feed events for imported conversations, without `step_entered` for imported steps. */
async function emitImported(
  eventOutbox: EventOutbox,
  tx: Tx,
  rows: readonly ImportedRow[],
  journeys: ReadonlyMap<number, CachedJourney>,
): Promise<void> {
  const updated: number[] = [];
  for (const row of rows) {
    if (row.id === null) continue;
    if (row.is_new) {
      const made = await findConversation(tx, { id: row.id });
      if (made !== undefined) emitCreated(eventOutbox, tx, made, journeys.get(made.journey_id ?? 0));
    } else if (row.fields !== '[]') {
      const fields = readFields(row).map(({ field }) => field);
      if (fields.includes('room')) eventOutbox.add(tx, conversationFeed.roomUpdated, { subject: row.id, data: {} });
      if (fields.some((field) => field !== 'room')) updated.push(row.id);
    }
  }
  await emitAccessUpdated(eventOutbox, tx, updated);
}

/** Returns the planned changes. @throws DataTooLarge with the first item that is too large */
async function plan(db: Dependencies['db'], batch: string): Promise<ImportedRow[]> {
  const rows = await planImport(db, { items: batch, withValues: true });
  for (const { key, too_large: field } of rows)
    if (field !== null) throw new DataTooLarge(field, `Conversation "${key}": `);
  requireOrder(rows);
  return rows;
}

/** Checks the times of all items. @throws AppError 400 with the first item whose finish is before its start */
function requireOrder(rows: readonly ImportedRow[]): void {
  const wrong = rows.find((row) => row.ends_before_start);
  if (wrong !== undefined) throw badRequest(`Conversation "${wrong.key}": finish is before start.`);
}

function refersToNothing(item: ImportItem): boolean {
  const { journey_id, step_id, default_step_id, event_id, participant_ids = [], connected_ids = [] } = item;
  return [journey_id, step_id, default_step_id, event_id, ...participant_ids, ...connected_ids].includes(0);
}

function toImported(row: ImportedRow): ImportedItem {
  const action = row.is_new ? 'create' : row.fields === '[]' ? 'unchanged' : 'update';
  return { key: row.key, id: row.id, action, fields: readFields(row) };
}

function readFields({ fields }: ImportedRow): ImportedItem['fields'] {
  return fields === '[]' ? [] : (parseJson(fields) as ImportedItem['fields']);
}
