/** Inbound webhooks as operators see them and work them again (P4): handlers of `webhookAdminRpcs`, the same in every service that receives some. */
import { type AuditContext, describeBulkAct, type NewAuditEntry } from '#libs/audit';
import {
  type Actor,
  maxReplayed,
  mayActOps,
  mayReadOps,
  type ReplyOf,
  type RequestOf,
  type webhookAdminRpcs,
  type WebhookChange,
  type WebhookItem,
} from '#libs/contract';
import { appError, notFound } from '#libs/errors';
import { type RawJson, rawJson, type RequestContext } from '#libs/nats';
import { redactBody, redactHeaders } from '#libs/redaction';
import type { Queryable } from '#libs/sql';
import { decodeBody } from './body.ts';
import { bodyPatterns, type ReceiptSearch, textFilterValues } from './search.ts';
import { collectShown, keepShown } from './shown.ts';

type Rpcs = ReturnType<typeof webhookAdminRpcs>;
type Wanted = Omit<RequestOf<Rpcs['listWebhooks']>, 'limit'>;

/** A receipt that can be worked again. */
export interface ReplayedReceipt {
  readonly id: number;
  readonly kind: string;
}

export interface WebhookOperations {
  readonly db: Queryable;
  readonly search: ReceiptSearch;
  /** With nothing left to do for it. */
  readonly isDone: (outcome: string) => boolean;
  /** Works receipts again and leaves the entry of the audit log, as `describe` has it. @returns how many, and how many could not be */
  readonly replay: (
    receipts: readonly ReplayedReceipt[],
    context: RequestContext,
    describe: (done: ReplayCounts) => NewAuditEntry,
  ) => Promise<ReplayCounts>;
}

interface ReplayCounts {
  readonly changed: number;
  readonly failed: number;
}

/** Items that the answer to a replay shows. */
const shown = 100;

export function webhookHandlers({ db, search, isDone, replay }: WebhookOperations) {
  return {
    listWebhooks: async (request: RequestOf<Rpcs['listWebhooks']>, { actor }: { readonly actor?: Actor | undefined }): Promise<RawJson> => {
      requireReader(actor);
      return rawJson(`{"items":${await findItems(db, search, request)}}`);
    },
    showWebhook: async (
      { id }: { id: number },
      { actor }: { readonly actor?: Actor | undefined },
    ): Promise<ReplyOf<Rpcs['showWebhook']>> => {
      requireReader(actor);
      const row = Number.isSafeInteger(id) ? await search.show(db, { id }) : undefined;
      if (row === undefined) throw notFound();
      const headers = redactHeaders(JSON.parse(row.headers) as Record<string, string>);
      return { ...(JSON.parse(row.item) as WebhookItem), headers, body: row.body === null ? null : redactBody(decodeBody(row.body)) };
    },
    replayWebhooks: async (request: RequestOf<Rpcs['replayWebhooks']>, context: RequestContext & AuditContext): Promise<WebhookChange> => {
      if (!mayActOps(context.actor)) throw appError('permission_denied', 'not_an_operator', 'You may not act on operations.');
      const { ids, dry_run: dryRun = false, ...wanted } = request;
      const found = await search.choose(db, { ...toValues(wanted), ...textFilterValues(wanted.q), ids, limit: maxReplayed + 1 });
      const taken = await keepShown({ db, search, q: wanted.q }, found.slice(0, maxReplayed));
      const able = taken.filter(({ has_body: hasBody, outcome }) => hasBody && !isDone(outcome));
      const unknown = ids === undefined ? 0 : new Set(ids).size - Math.min(found.length, maxReplayed);
      const counts = { matched: able.length, without_body: taken.filter(({ has_body: hasBody }) => !hasBody).length };
      const describe = ({ changed, failed }: ReplayCounts): NewAuditEntry =>
        describeBulkAct({ filter: wanted, ids }, { matched: able.length, changed, failed: unknown + failed });
      const done = dryRun || able.length === 0 ? { changed: 0, failed: 0 } : await replay(able, context, describe);
      const { items } = await search.some(db, { ids: able.slice(0, shown).map(({ id }) => id) });
      return {
        ...counts,
        changed: done.changed,
        failed: unknown + done.failed,
        more: found.length > maxReplayed && taken.length > 0,
        items: JSON.parse(items) as WebhookItem[],
      };
    },
  };
}

function requireReader(actor: Actor | undefined): void {
  // The gateway has looked at it already; what people wrote is worth a second look.
  if (!mayReadOps(actor)) throw appError('permission_denied', 'not_an_operator', 'You may not see operations.');
}

function toValues({ kind, outcome, person_id: personId, from, to, before }: Wanted) {
  return { kind, outcome, personId: personId?.toString(), from, to, beforeAt: before?.at, beforeId: before?.id };
}

async function findItems(db: Queryable, search: ReceiptSearch, request: RequestOf<Rpcs['listWebhooks']>): Promise<string> {
  const { limit, before, ...wanted } = request;
  const { q, person_id: personId } = wanted;
  if (q === undefined) return (await (personId === undefined ? search.list : search.ofPerson)(db, { ...toValues(request), limit })).items;
  const items = await collectShown({ db, search, q }, { limit, before }, async (from) => {
    const found = await findRaw(db, search, { ...wanted, q, limit, ...(from === undefined ? {} : { before: from }) });
    return JSON.parse(found) as WebhookItem[];
  });
  return JSON.stringify(items);
}

/** Text that many bodies have is found in the newest; what few have, or none, by the index. */
async function findRaw(
  db: Queryable,
  search: ReceiptSearch,
  { limit, q, ...wanted }: RequestOf<Rpcs['listWebhooks']> & { readonly q: string },
): Promise<string> {
  const { person_id: personId } = wanted;
  const texts = { ...toValues(wanted), limit, ...bodyPatterns(q) };
  if (personId === undefined) {
    const { items, count } = await search.look(db, texts);
    if (count === limit) return items;
  }
  return (await search.search(db, texts)).items;
}
