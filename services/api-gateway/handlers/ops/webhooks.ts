/** Handlers of `/api/ops/webhooks`: the webhooks of all services as one list, and their replay (P4). */
import {
  type HandledRoute,
  type InputOf,
  maxListedReplays,
  maxReplayed,
  replayCounts,
  type RequestOf,
  type WebhookChange,
  type WebhookItem,
} from '#libs/infrastructure/contract';
import { AppError, notFound } from '#libs/infrastructure/errors';
import type { RouteHandlers } from '#libs/infrastructure/http';
import {
  findPosition,
  hasMore,
  mergePages,
  operatorLists,
  type MergedCursor,
  nextCursor,
  parseInstantKey,
  formatInstantKey,
  encodeMergedCursor,
} from '#libs/infrastructure/cursor';
import { agents, firstUpdateReceiptId } from '#services/agents';
import { conversations } from '#services/conversations';
import type { Dependencies } from '../../dependencies.ts';
import { usualLimit } from '../../routes/ops/filters.ts';
import type { webhookRoutes } from '../../routes/ops/webhooks.ts';
import {
  badCursor,
  fanOutTimeoutMs,
  parseMergedCursor,
  parseSelection,
  queryAllServices,
  queryServices,
} from './shared.ts';

type ListRoute = Extract<(typeof webhookRoutes)[number], HandledRoute<'ops-webhooks'>>;
type Filter = Omit<InputOf<ListRoute>['query'], 'limit' | 'cursor'>;
type Request = RequestOf<typeof conversations.rpcs.replayWebhooks>;

const filterFields = ['kind', 'outcome', 'person_id', 'from', 'to', 'q'] as const satisfies (keyof Filter)[];

const kind = operatorLists.webhooks;
const positionOf = ({ received_at: at, id }: WebhookItem) => ({
  at: formatInstantKey({ at, id }),
  source: receiverOf(id),
});

/** The services that receive webhooks. */
const receivers = { agents, conversations } as const;
type Receiver = keyof typeof receivers;

/** The services use separate ranges of receipt ids: ids of Telegram updates start at a high number. */
const receiverOf = (id: number): Receiver => (id >= firstUpdateReceiptId ? 'agents' : 'conversations');

/** Returns the services that can have receipts matching the filter, in the order of a replay. */
function receiversOf({
  kind: requestedKind,
  person_id: person,
}: {
  kind?: string | undefined;
  person_id?: number | undefined;
}): Receiver[] {
  const hasUpdates = (requestedKind ?? 'telegram') === 'telegram' && person === undefined;
  return [
    ...(requestedKind === 'telegram' ? [] : (['conversations'] as const)),
    ...(hasUpdates ? (['agents'] as const) : []),
  ];
}

export function createWebhookHandlers({
  bus,
}: Pick<Dependencies, 'bus'>): RouteHandlers<(typeof webhookRoutes)[number]> {
  return {
    'ops-webhooks': async ({ input, call, answer }) => {
      const { limit = usualLimit, cursor, ...filter } = input.query;
      const position = parseMergedCursor(kind, cursor);
      const boundedCall = { ...call, deadlineMs: Date.now() + fanOutTimeoutMs };
      const remaining = receiversOf(filter).filter((name) => hasMore(position, name));
      const { replies, missing } = await queryAllServices(remaining, (name) => {
        const { rpcs } = receivers[name];
        return bus.call(rpcs.listWebhooks, { ...filter, ...beforeOf(name, position), limit: limit + 1 }, boundedCall);
      });
      const { items, next } = mergePages(
        replies.map((page) => page.items),
        { limit, positionOf },
      );
      const nextPosition = nextCursor(position, { next, missing });
      answer({ items, next: nextPosition === undefined ? null : encodeMergedCursor(kind, nextPosition), missing });
    },
    'ops-webhook': async ({ input, call, answer }) => {
      const { receipt_id: id } = input.params;
      try {
        answer(
          receiverOf(id) === 'agents'
            ? await bus.call(agents.rpcs.showWebhook, { id }, call)
            : await bus.call(conversations.rpcs.showWebhook, { id }, call),
        );
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
        throw notFound('The webhook does not exist.');
      }
    },
    'ops-replay': async ({ input, call, answer }) => {
      const { filter, ids } = parseSelection<Filter, number>(input.body, filterFields);
      const { limit = 2 * maxReplayed, dry_run: dryRun = false } = input.body;
      const idsOf = (name: Receiver): number[] => (ids ?? []).filter((id) => receiverOf(id) === name);
      const targets =
        ids === undefined ? receiversOf(filter) : receiversOf({}).filter((name) => idsOf(name).length > 0);
      const parts: WebhookChange[] = [];
      const missing: Receiver[] = [];
      let failure: unknown;
      // One after the other, because the limit applies to all services together.
      for (const name of targets) {
        const remaining = limit - sum(parts, 'selected');
        if (remaining === 0) break;
        const selection = ids === undefined ? filter : { ids: idsOf(name) };
        const request: Request = { ...selection, dry_run: dryRun, limit: Math.min(remaining, maxReplayed) };
        const { rpcs } = receivers[name];
        const result = await queryServices([name], () => bus.call(rpcs.replayWebhooks, request, call));
        parts.push(...result.replies);
        missing.push(...result.missing);
        failure = result.failure;
      }
      if (parts.length === 0 && missing.length > 0) throw failure;
      const items = parts
        .flatMap((own) => own.items)
        .toSorted((left, right) => (positionOf(left).at < positionOf(right).at ? -1 : 1));
      const total = Object.fromEntries(countNames.map((name) => [name, sum(parts, name)])) as Counts;
      answer({
        ...total,
        more: parts.some((own) => own.more) || parts.length + missing.length < targets.length,
        items: items.slice(0, maxListedReplays),
        job_ids: parts.flatMap((own) => own.job_ids),
        missing: missing.toSorted(),
      });
    },
  };
}

type Counts = Record<keyof typeof replayCounts, number>;
const countNames = Object.keys(replayCounts) as (keyof Counts)[];

const sum = (parts: readonly WebhookChange[], name: keyof Counts): number =>
  parts.reduce((total, own) => total + own[name], 0);

/** Returns the `before` field of the request to a service. @throws AppError 400 `bad_cursor` for an invalid instant */
function beforeOf(name: Receiver, cursor: MergedCursor): { before?: { at: string; id: number } } {
  const position = findPosition(cursor, name);
  if (position === undefined) return {};
  const before = parseInstantKey(position.at);
  if (before === undefined) throw badCursor();
  return { before };
}
