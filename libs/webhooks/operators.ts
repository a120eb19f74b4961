/**
 * Handlers of `webhookAdminRpcs` (P4), which list, show and replay webhooks. They are the same in every service that
 * receives webhooks.
 */
import { requireOpsOperator, requireOpsReader } from '#libs/actor';
import { type AuditContext, describeBulkAct, type NewAuditEntry } from '#libs/audit';
import {
  type Actor,
  maxReplayed,
  type ReplyOf,
  type RequestOf,
  type webhookAdminRpcs,
  type WebhookChange,
  type WebhookItem,
} from '#libs/contract';
import { notFound } from '#libs/errors';
import { type RawJson, rawJson, type RequestContext } from '#libs/nats';
import { redactBody, redactHeaders } from '#libs/redaction';
import type { Queryable } from '#libs/sql';
import { decodeBody } from './body.ts';
import {
  bodyPatterns,
  collectVisibleMatches,
  filterVisibleMatches,
  type ReceiptSearch,
  textFilterValues,
} from './search.ts';

type Rpcs = ReturnType<typeof webhookAdminRpcs>;
type ReceiptFilter = Omit<RequestOf<Rpcs['listWebhooks']>, 'limit'>;

export interface ReplayedReceipt {
  readonly id: number;
  readonly kind: string;
}

export interface WebhookOperations {
  readonly db: Queryable;
  readonly search: ReceiptSearch;
  /** Returns whether the outcome is final; receipts with a final outcome are not replayed. */
  readonly isDone: (outcome: string) => boolean;
  /** Replays receipts and writes the audit entry of `describe`. @returns how many were replayed and how many failed */
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

/** Maximum items in the response to a replay. */
const maxListedItems = 100;

export function webhookAdminHandlers({ db, search, isDone, replay }: WebhookOperations) {
  return {
    listWebhooks: async (
      request: RequestOf<Rpcs['listWebhooks']>,
      { actor }: { readonly actor?: Actor | undefined },
    ): Promise<RawJson> => {
      requireOpsReader(actor);
      return rawJson(`{"items":${await findItems(db, search, request)}}`);
    },
    showWebhook: async (
      { id }: { id: number },
      { actor }: { readonly actor?: Actor | undefined },
    ): Promise<ReplyOf<Rpcs['showWebhook']>> => {
      requireOpsReader(actor);
      const row = Number.isSafeInteger(id) ? await search.find(db, { id }) : undefined;
      if (row === undefined) throw notFound();
      const headers = redactHeaders(JSON.parse(row.headers) as Record<string, string>);
      return {
        ...(JSON.parse(row.item) as WebhookItem),
        headers,
        body: row.body === null ? null : redactBody(decodeBody(row.body)),
      };
    },
    replayWebhooks: async (
      request: RequestOf<Rpcs['replayWebhooks']>,
      context: RequestContext & AuditContext,
    ): Promise<WebhookChange> => {
      requireOpsOperator(context.actor);
      const { ids, dry_run: dryRun = false, ...filter } = request;
      const found = await search.selectForReplay(db, {
        ...toValues(filter),
        ...textFilterValues(filter.q),
        ids,
        limit: maxReplayed + 1,
      });
      const matching = await filterVisibleMatches({ db, search, q: filter.q }, found.slice(0, maxReplayed));
      const replayable = matching.filter(({ has_body: hasBody, outcome }) => hasBody && !isDone(outcome));
      const unknown = ids === undefined ? 0 : new Set(ids).size - Math.min(found.length, maxReplayed);
      const counts = {
        matched: replayable.length,
        without_body: matching.filter(({ has_body: hasBody }) => !hasBody).length,
      };
      const describe = ({ changed, failed }: ReplayCounts): NewAuditEntry =>
        describeBulkAct({ filter, ids }, { matched: replayable.length, changed, failed: unknown + failed });
      const done =
        dryRun || replayable.length === 0 ? { changed: 0, failed: 0 } : await replay(replayable, context, describe);
      const { items } = await search.listByIds(db, { ids: replayable.slice(0, maxListedItems).map(({ id }) => id) });
      return {
        ...counts,
        changed: done.changed,
        failed: unknown + done.failed,
        more: found.length > maxReplayed && matching.length > 0,
        items: JSON.parse(items) as WebhookItem[],
      };
    },
  };
}

function toValues({ kind, outcome, person_id: personId, from, to, before }: ReceiptFilter) {
  return { kind, outcome, personId: personId?.toString(), from, to, beforeAt: before?.at, beforeId: before?.id };
}

async function findItems(
  db: Queryable,
  search: ReceiptSearch,
  request: RequestOf<Rpcs['listWebhooks']>,
): Promise<string> {
  const { limit, before, ...filter } = request;
  const { q, person_id: personId } = filter;
  if (q === undefined)
    return (await (personId === undefined ? search.list : search.listOfPerson)(db, { ...toValues(request), limit }))
      .items;
  const items = await collectVisibleMatches({ db, search, q }, { limit, before }, async (from) => {
    const found = await searchItems(db, search, {
      ...filter,
      q,
      limit,
      ...(from === undefined ? {} : { before: from }),
    });
    return JSON.parse(found) as WebhookItem[];
  });
  return JSON.stringify(items);
}

/**
 * Searches the newest receipts first, which is enough for frequent texts; rare texts are then found through the index.
 */
async function searchItems(
  db: Queryable,
  search: ReceiptSearch,
  { limit, q, ...filter }: RequestOf<Rpcs['listWebhooks']> & { readonly q: string },
): Promise<string> {
  const { person_id: personId } = filter;
  const texts = { ...toValues(filter), limit, ...bodyPatterns(q) };
  if (personId === undefined) {
    const { items, count } = await search.searchNewest(db, texts);
    if (count === limit) return items;
  }
  return (await search.search(db, texts)).items;
}
