/** Writes audit entries (A1), in the transaction of the change. */
import type { Actor } from '#libs/contract';
import { toStorableText } from '#libs/json';
import type { Tx } from '#libs/orm';
import { appendEntry } from './statements.ts';

/** Actor and origin of a call. Jobs on behalf of an actor carry it in their payload. */
export interface AuditContext {
  readonly subject: string;
  /** Action that the operation declares. */
  readonly audit?: string | undefined;
  readonly actor?: Actor | undefined;
  readonly requestId: string;
  /** Client address as used by rate limits; absent for internal calls. */
  readonly clientIp?: string | undefined;
}

export interface NewAuditEntry {
  /** Changed object; absent for bulk operations. */
  readonly target?: { readonly type: string; readonly id: number | string } | undefined;
  /**
   * Field names, dotted configuration paths, rights, ids and counts. Never secrets, configuration values or text that
   * people wrote: entries remain when a person is erased.
   */
  readonly changes?: Readonly<Record<string, unknown>> | undefined;
  /** Default `ok`. */
  readonly outcome?: 'ok' | 'refused';
  /** Account for calls without an actor, such as logins; null if unknown. */
  readonly accountId?: number | null;
}

/** Maximum stored characters of a name, id or address. */
const maxText = 200;
/** Maximum length of the changes, as JSON. */
const maxChanges = 16_384;
const maxFields = 12;
const maxField = 1_024;
/** Maximum items listed in an entry of a bulk operation; the count is complete. */
const maxListed = 100;

/**
 * Adds an entry to the transaction. It is written right before the commit, so that the lock of the chain is held for
 * one disk write only.
 * @throws Error when the operation declares no `audit` or the actor cannot be determined: bugs
 */
export function recordAudit(tx: Tx, context: AuditContext, entry: NewAuditEntry): void {
  const { audit: action, subject, requestId, clientIp } = context;
  if (action === undefined) throw new Error(`${subject} does not declare an action of the audit log`);
  const row = {
    ...describeActor(context, entry),
    action,
    targetType: entry.target?.type,
    targetId: entry.target === undefined ? null : bounded(String(entry.target.id)),
    changes: entry.changes === undefined ? null : writeChanges(entry.changes),
    requestId: bounded(requestId),
    ip: clientIp === undefined ? null : bounded(clientIp),
    outcome: entry.outcome ?? 'ok',
  };
  tx.beforeCommit(() => appendEntry(tx, row));
}

/** The first hundred items and their count. */
export function listSome(items: readonly unknown[], name = 'ids'): Record<string, unknown> {
  return { [name]: items.slice(0, maxListed), count: items.length };
}

/** Filter fields with search text; entries contain only its length. */
const searchedTexts: ReadonlySet<string> = new Set(['q', 'text', 'error']);

/** Filter of a bulk operation. Search texts can identify people and are replaced by their length. */
export function describeFilter(filter: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const describe = ([name, value]: [string, unknown]): [string, unknown] => [
    name,
    typeof value === 'string' && searchedTexts.has(name) ? { length: value.length } : value,
  ];
  return Object.fromEntries(Object.entries(filter).map(describe));
}

interface BulkCounts {
  readonly matched: number;
  readonly changed: number;
  readonly failed: number;
}

/** Entry of a bulk operation: its filter or first hundred ids, and counts; it has no target (D99). */
export function describeBulkAct(
  {
    filter,
    ids,
  }: { readonly filter?: Readonly<Record<string, unknown>>; readonly ids?: readonly unknown[] | undefined },
  { matched, changed, failed }: BulkCounts,
): NewAuditEntry & { readonly changes: Readonly<Record<string, unknown>> } {
  const choice = ids === undefined ? { filter: describeFilter(filter ?? {}) } : { ids: ids.slice(0, maxListed) };
  return { changes: { ...choice, matched, changed, failed } };
}

/** Names of the fields whose values differ. */
export function changedFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).toSorted();
}

/** JSON of the changes; fields that are too large are replaced by a notice. */
function writeChanges(changes: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(changes);
  if (text.length <= maxChanges) return text;
  const fields = Object.entries(changes).slice(0, maxFields);
  return JSON.stringify(
    Object.fromEntries(
      fields.map(([name, value]) => [
        bounded(name),
        JSON.stringify(value).length > maxField ? 'too long to be stored' : value,
      ]),
    ),
  );
}

function bounded(text: string): string {
  return toStorableText(text.slice(0, maxText).toWellFormed());
}

function describeActor(
  { actor, subject }: AuditContext,
  { accountId }: NewAuditEntry,
): { actorKind: string; accountId: number | null; keyId: string | null } {
  if (actor?.kind === 'shared') return { actorKind: 'shared', accountId: null, keyId: null };
  if (actor?.kind === 'user') {
    const keyId = actor.key?.id ?? null;
    return { actorKind: keyId === null ? 'account' : 'key', accountId: actor.accountId, keyId };
  }
  if (subject.startsWith('admin.')) return { actorKind: 'cli', accountId: null, keyId: null };
  if (accountId === undefined) throw new Error(`${subject}: the caller cannot be determined for the audit log`);
  return { actorKind: 'account', accountId, keyId: null };
}
