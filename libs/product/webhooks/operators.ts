/**
 * Handlers of `webhookAdminRpcs` (P4), which list, show and replay webhooks. They are the same in every service that
 * receives webhooks.
 */
import { requireOpsOperator, requireOpsReader } from '#libs/infrastructure/actor';
import { type AuditContext, describeBulkAct, type NewAuditEntry } from '#libs/infrastructure/audit';
import {
  type Actor,
  maxListedReplays,
  type ReplyOf,
  type RequestOf,
  type webhookAdminRpcs,
  type WebhookChange,
  type WebhookItem,
} from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import { type RawJson, rawJson, type RequestContext } from '#libs/infrastructure/nats';
import { redactBody, redactHeaders } from '#libs/infrastructure/redaction';
import type { Queryable } from '#libs/infrastructure/sql';
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
  /** Replays receipts and writes the audit entry of `describe`. */
  readonly replay: (
    receipts: readonly ReplayedReceipt[],
    context: RequestContext,
    describe: (counts: ReplayCounts) => NewAuditEntry,
  ) => Promise<ReplayCounts>;
}

/** Outcomes of a replay. Receipts that are not in a count remain for the next call. */
export interface ReplayCounts {
  readonly replayed: number;
  readonly nothing_left: number;
  readonly without_body: number;
  readonly no_agent: number;
  readonly jobIds: readonly string[];
}

const noCounts: ReplayCounts = { replayed: 0, nothing_left: 0, without_body: 0, no_agent: 0, jobIds: [] };

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
        sends: JSON.parse(row.sends) as ReplyOf<Rpcs['showWebhook']>['sends'],
      };
    },
    replayWebhooks: async (
      request: RequestOf<Rpcs['replayWebhooks']>,
      context: RequestContext & AuditContext,
    ): Promise<WebhookChange> => {
      requireOpsOperator(context.actor);
      const { ids, limit, dry_run: dryRun = false, ...filter } = request;
      const found = await search.selectForReplay(db, {
        ...toValues(filter),
        ...textFilterValues(filter.q),
        ids,
        limit: limit + 1,
      });
      const matching = await filterVisibleMatches({ db, search, q: filter.q }, found.slice(0, limit));
      const stored = matching.filter(({ has_body: hasBody }) => hasBody);
      const replayable = stored.filter(({ outcome }) => !isDone(outcome));
      const hasMore = found.length > limit;
      const unknown = ids === undefined || hasMore ? 0 : new Set(ids).size - found.length;
      const matched = replayable.length;
      const describe = (counts: ReplayCounts): NewAuditEntry =>
        describeBulkAct(
          { filter, ids },
          { matched, changed: counts.replayed, failed: unknown + counts.no_agent + counts.without_body },
        );
      const done = dryRun || matched === 0 ? noCounts : await replay(replayable, context, describe);
      const handled = done.replayed + done.nothing_left + done.without_body + done.no_agent;
      const { items } = await search.listByIds(db, { ids: replayable.slice(0, maxListedReplays).map(({ id }) => id) });
      return {
        selected: matching.length,
        matched,
        changed: done.replayed,
        failed: unknown + done.no_agent,
        without_body: matching.length - stored.length + done.without_body,
        nothing_left: stored.length - matched + done.nothing_left,
        no_agent: done.no_agent,
        more: (hasMore && matching.length > 0) || (!dryRun && handled < matched),
        items: JSON.parse(items) as WebhookItem[],
        job_ids: done.jobIds.slice(0, maxListedReplays),
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
