/** Writes audit entries (A1), in the transaction of the change. */
import type { Actor, ChangeOrigin } from '#libs/infrastructure/contract';
import { toStorableText } from '#libs/infrastructure/json';
import type { Tx } from '#libs/infrastructure/orm';
import { appendEntry } from './statements.ts';

/** Actor and origin of a call. Jobs that run on behalf of an actor have this context in their payload. */
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
  /** Result of the operation; default `ok`. */
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
/** Maximum number of items listed in the entry of a bulk operation. The recorded count includes all items. */
const maxListed = 100;

/**
 * Adds an entry to the transaction. It is written right before the commit, so that the chain is locked for one disk
 * write only.
 * @throws Error when the operation does not declare `audit` or the actor cannot be determined; both are bugs
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

/**
 * Returns the context of work that continues after the request of its caller. It also serves as the context of the
 * history.
 */
export function onBehalfOf(
  { subject, audit, requestId }: Pick<AuditContext, 'subject' | 'audit' | 'requestId'>,
  { account_id: accountId, key_id: keyId, via }: ChangeOrigin,
): AuditContext & { readonly via: string | undefined } {
  const base = { audit, requestId, via: via ?? undefined };
  if (accountId === null) return { ...base, subject: `admin.${subject}` };
  const rights = { personId: null, superuser: false, globalEditor: false, coherenceAccess: false };
  const key = keyId === null ? {} : { key: { id: keyId, scopes: [] } };
  return { ...base, subject, actor: { kind: 'user', accountId, ...rights, ...key } };
}

/** Returns the first hundred items and the count of all. */
export function listSome(items: readonly unknown[], name = 'ids'): Record<string, unknown> {
  return { [name]: items.slice(0, maxListed), count: items.length };
}

/** Filter fields with search text. Entries contain only the length of the text. */
const searchedTexts: ReadonlySet<string> = new Set(['q', 'text', 'error']);

/**
 * Returns the filter of a bulk operation for its entry. Search texts can identify people, so only their lengths are
 * included.
 */
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

/**
 * Returns the entry of a bulk operation: the filter or the first hundred ids, and the counts. The entry has no target
 * (D99).
 */
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

/** Returns the names of the fields whose values differ. */
export function changedFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).toSorted();
}

/** Returns the changes as JSON; a notice replaces the value of each field that is too large. */
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
