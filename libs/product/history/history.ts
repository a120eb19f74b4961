/** Records the changes of objects in the transaction that makes them (W10). */
import type { Actor } from '#libs/infrastructure/contract';
import { badRequest } from '#libs/infrastructure/errors';
import { type JsonObject, parseJson } from '#libs/infrastructure/json';
import type { Tx } from '#libs/infrastructure/orm';
import { removeInBatches } from '#libs/infrastructure/retention';
import type { Queryable } from '#libs/infrastructure/sql';
import type { HistoryVia } from './contract.ts';
import { diffSnapshots, type FieldChanges, hideSecrets } from './rules.ts';
import { insertEntries, removeOldEntries } from './statements.ts';

/** What an entry says about its cause; the context of a served request fits. */
export interface HistoryContext {
  readonly subject: string;
  readonly actor?: Actor | undefined;
  /** Overrides what follows from the request. */
  readonly via?: string | undefined;
}

/** The API fields of an object as JSON text, without values that are derived or change by themselves. */
export interface Snapshot {
  readonly id: number;
  /** Slug or key of the object. */
  readonly key: string | null;
  readonly value: string;
}

/** Reads snapshots of the objects that exist. */
type ReadSnapshots = (tx: Tx, params: { readonly ids: readonly number[] }) => Promise<readonly Snapshot[]>;

/** Objects as they were before the work. */
export interface Tracked {
  /**
   * Changes up to now for the reply, with the marks of secrets that the entry has; the entry itself is written at the end
   * of the transaction.
   */
  changesOf(id: number): Promise<FieldChanges>;
}

export interface History<Kind extends string> {
  /**
   * Call with the objects locked, before they are changed. Writes an entry for each object that the transaction changes
   * or deletes.
   */
  recordChanges(tx: Tx, context: HistoryContext, kind: Kind, ids: readonly number[]): Promise<Tracked>;
  /** Writes an entry for each new object at the end of the transaction. */
  created(tx: Tx, context: HistoryContext, kind: Kind, ids: readonly number[]): void;
}

interface State {
  readonly key: string | null;
  readonly value: JsonObject;
}

/** Entries per statement. */
const batchSize = 1_000;

/** @param snapshots for each kind of object: how its API fields are read */
export function createHistory<Kind extends string>(snapshots: Readonly<Record<Kind, ReadSnapshots>>): History<Kind> {
  async function read(tx: Tx, kind: Kind, ids: readonly number[]): Promise<Map<number, State>> {
    if (ids.length === 0) return new Map();
    const rows = await snapshots[kind](tx, { ids });
    return new Map(rows.map(({ id, key, value }) => [id, { key, value: hideSecrets(parseJson(value)) as JsonObject }]));
  }

  async function write(
    tx: Tx,
    context: HistoryContext,
    kind: Kind,
    ids: readonly number[],
    before: ReadonlyMap<number, State>,
  ): Promise<void> {
    const after = await read(tx, kind, ids);
    const cause = describeCause(context);
    const entries = ids.flatMap((id) => {
      const [old, now] = [before.get(id), after.get(id)];
      const changes = diffSnapshots(old?.value, now?.value);
      if (changes === undefined) return [];
      const action = old === undefined ? 'create' : now === undefined ? 'delete' : 'update';
      return [{ object_kind: kind, object_id: id, object_key: (now ?? old)?.key, action, changes, ...cause }];
    });
    for (let from = 0; from < entries.length; from += batchSize)
      tx.beforeCommit(() => insertEntries(tx, { entries: JSON.stringify(entries.slice(from, from + batchSize)) }));
  }

  return {
    recordChanges: async (tx, context, kind, ids) => {
      const distinct = [...new Set(ids)];
      const before = await read(tx, kind, distinct);
      tx.afterFlush(() => write(tx, context, kind, distinct, before));
      return {
        changesOf: async (id) =>
          diffSnapshots(before.get(id)?.value, (await read(tx, kind, [id])).get(id)?.value) ?? {},
      };
    },
    created: (tx, context, kind, ids) => tx.afterFlush(() => write(tx, context, kind, [...new Set(ids)], new Map())),
  };
}

/** Removes entries after their retention (`HISTORY_RETENTION_DAYS`). */
export async function removeOldHistory(
  db: Queryable,
  { days, signal }: { readonly days: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  await removeInBatches({ signal, remove: async (limit) => (await removeOldEntries(db, { days, limit })).count });
}

/** Returns the position of a cursor in a history; null for the first page. @throws AppError 400 */
export function readHistoryCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  if (!/^[1-9]\d{0,15}$/.test(cursor)) throw badRequest('cursor must be the `next` of an earlier page.');
  return Number(cursor);
}

function describeCause({ subject, actor, via }: HistoryContext) {
  if (actor?.kind === 'user') {
    const kind = actor.key === undefined ? 'account' : 'key';
    return { via: via ?? 'api', actor_kind: kind, account_id: actor.accountId, key_id: actor.key?.id ?? null };
  }
  if (subject.startsWith('admin.')) return { via: via ?? 'cli', actor_kind: 'cli' };
  return { via: via ?? ('webhook' satisfies HistoryVia), actor_kind: actor?.kind ?? null };
}
