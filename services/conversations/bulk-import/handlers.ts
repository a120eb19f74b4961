/** Bulk import of existing conversations (rules/workspace#bulk-import): one transaction per call, set-based; pipelines are not started. */
import type { ReplyOf, RequestOf } from '#libs/contract';
import { AppError } from '#libs/errors';
import { parseJson } from '#libs/json';
import type { RequestContext } from '#libs/nats';
import { conversations } from '../contract.ts';
import { DataTooLarge, findTooLarge } from '../data-size.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ImportItem, ImportedItem } from './contract.ts';
import { applyImport, lockImported, lockImports, planImport, type ImportedRow } from './statements.ts';

type Rpc = typeof conversations.rpcs.importConversations;

/** Changes of these fields are published (event `conversation.changed`). */
const notifiedFields = new Set(['journey', 'step', 'event', 'start', 'finish', 'participants', 'connected']);

/** @throws AppError 400 when an item refers to something that does not exist yet, 413 when one would be too large; nothing is changed then. */
export async function importConversations(
  { db, jobs }: Dependencies,
  { items, dry_run: dryRun }: RequestOf<Rpc>,
  context: RequestContext,
): Promise<ReplyOf<Rpc>> {
  const batch = JSON.stringify(items);
  if (dryRun) return { items: (await plan(db, batch)).map(toImported) };
  if (items.some(refersToNothing)) throw new AppError({ code: 'bad_request', message: 'An item refers to what does not exist yet' });
  const work = jobs.transaction(async (tx) => {
    await lockImports(tx);
    await lockImported(tx, { keys: items.map(({ key }) => key) });
    const imported = await applyImport(tx, { items: batch, withValues: false });
    for (const row of imported) {
      if (row.is_new || row.id === null || row.fields === '[]') continue;
      if (!readFields(row).some(({ field }) => notifiedFields.has(field))) continue;
      await jobs.emit(tx, conversations.events.changed, { id: row.id }, { requestId: context.requestId });
    }
    return imported;
  });
  const rows = await work.catch(async (error: unknown) => {
    if (findTooLarge(error) !== undefined) await plan(db, batch); // which says what is too large
    throw error;
  });
  return { items: rows.map(toImported) };
}

/** @throws DataTooLarge naming the first item that would be too large */
async function plan(db: Dependencies['db'], batch: string): Promise<ImportedRow[]> {
  const rows = await planImport(db, { items: batch, withValues: true });
  for (const { key, too_large: field } of rows) if (field !== null) throw new DataTooLarge(field, `Conversation "${key}": `);
  return rows;
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
