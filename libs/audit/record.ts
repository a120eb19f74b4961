/** Writing entries (A1): each commits with the change that it tells of, or not at all. */
import type { Actor } from '#libs/contract';
import { toStorableText } from '#libs/json';
import type { Tx } from '#libs/orm';
import { appendEntry } from './statements.ts';

/** What the context of a served call says of who acts. A job that acts for somebody carries it in its payload. */
export interface AuditContext {
  readonly subject: string;
  /** Action of the operation, as its declaration says. */
  readonly audit?: string | undefined;
  readonly actor?: Actor | undefined;
  readonly requestId: string;
  /** What limits count the client by; absent where no client asked. */
  readonly clientIp?: string | undefined;
}

export interface NewAuditEntry {
  /** To what it was done; left out where there is no one thing, as for a bulk act. */
  readonly target?: { readonly type: string; readonly id: number | string } | undefined;
  /**
   * Names of fields, dotted paths of configuration, rights, ids and counts. Never a secret, a value of configuration, or what a person wrote: an
   * entry stays when the person is erased.
   */
  readonly changes?: Readonly<Record<string, unknown>> | undefined;
  /** Default `ok`. */
  readonly outcome?: 'ok' | 'refused';
  /** Who acts where the call has no actor, as in a login; null when nobody knows. */
  readonly accountId?: number | null;
}

/** Characters that an entry keeps of a name, an id or an address. */
const maxText = 200;
/** Of JSON. */
const maxChanges = 16_384;
const maxFields = 12;
const maxField = 1_024;
/** Items that an entry of a bulk act names; it counts them all. */
const maxListed = 100;

/**
 * Puts an entry into the transaction. It is written last, with the commit: its lock is held for one write to the disk, and nobody who holds it
 * waits for another.
 * @throws Error when the operation declares no `audit`, or nobody can be said to act: faults in the code
 */
export function recordAudit(tx: Tx, context: AuditContext, entry: NewAuditEntry): void {
  const { audit: action, subject, requestId, clientIp } = context;
  if (action === undefined) throw new Error(`${subject} declares no action of the audit log`);
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

/** The first hundred of them, and how many there are. */
export function listSome(items: readonly unknown[], name = 'ids'): Record<string, unknown> {
  return { [name]: items.slice(0, maxListed), count: items.length };
}

/** Fields of filters that look for a part of a text: of them an entry says how long that was. */
const searchedTexts: ReadonlySet<string> = new Set(['q', 'text', 'error']);

/** The filter of a bulk act. What was looked for in texts may be a person's address or words, of which a digest could be guessed. */
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

/** A bulk act: what it was for, by filter or by ids, and what became of it; it has no one target (D99). Of ids the first hundred are named. */
export function describeBulkAct(
  { filter, ids }: { readonly filter?: Readonly<Record<string, unknown>>; readonly ids?: readonly unknown[] | undefined },
  { matched, changed, failed }: BulkCounts,
): NewAuditEntry & { readonly changes: Readonly<Record<string, unknown>> } {
  const choice = ids === undefined ? { filter: describeFilter(filter ?? {}) } : { ids: ids.slice(0, maxListed) };
  return { changes: { ...choice, matched, changed, failed } };
}

/** Names of the fields whose values differ. */
export function changedFields(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).toSorted();
}

/** JSON; of one that is too large the large fields say so. */
function writeChanges(changes: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(changes);
  if (text.length <= maxChanges) return text;
  const fields = Object.entries(changes).slice(0, maxFields);
  return JSON.stringify(
    Object.fromEntries(
      fields.map(([name, value]) => [bounded(name), JSON.stringify(value).length > maxField ? 'too long to be kept' : value]),
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
  if (accountId === undefined) throw new Error(`${subject} is called by nobody whom the audit log could name`);
  return { actorKind: 'account', accountId, keyId: null };
}
