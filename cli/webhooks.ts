/** `webhooks list|show|replay`: receipts of inbound webhooks (rules/cli#admin-cli; D20, D33b). */
import { type Command, InvalidArgumentError } from 'commander';
import { maxReplayed, type ReplyOf } from '#libs/contract';
import {
  startCursor,
  findPosition,
  hasMore,
  mergePages,
  operatorLists,
  type MergedCursor,
  nextCursor,
  type Position,
  parseInstantKey,
  formatInstantKey,
  encodeMergedCursor,
} from '#libs/cursor';
import { redactBody, redactHeaders } from '#libs/redaction';
import { agents, firstUpdateReceiptId, type UpdateReceipt } from '#services/agents';
import { conversations } from '#services/conversations';
import { callAll, requireAll, requireDone } from './call-services.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { type Cell, moment, type Tone, toned } from './output/cell.ts';
import { fields, table, type View } from './output/table.ts';
import { cursorText, parseId, parseLimit, parseMergedCursor } from './parse-options.ts';
import { type Filter, isFilter, type ReceiptRequests, toRequests, withFilter } from './webhook-filter.ts';

type BookingReceipt = ReplyOf<typeof conversations.rpcs.listReceipts>['items'][number];
type Receipt = BookingReceipt | UpdateReceipt;

const defaultLimit = 100;

function parseReplayLimit(text: string): number {
  const limit = Number(text);
  if (!/^[1-9]\d{0,5}$/.test(text) || limit > 2 * maxReplayed)
    throw new InvalidArgumentError(`must be between 1 and ${2 * maxReplayed}.`);
  return limit;
}

/**
 * Returns true for a receipt of a messaging update. Receipt ids are unique across services, since ids of messaging
 * updates start at a high number.
 */
function isUpdate(id: number): boolean {
  return id >= firstUpdateReceiptId;
}

export function register(group: Command, context: CliContext): void {
  withFilter(group.command('list'))
    .description('Lists receipts of bookings, meetings and messaging updates, newest first')
    .option('--limit <count>', 'maximum number of results, at most 1000', parseLimit, defaultLimit)
    .option('--cursor <cursor>', cursorText, parseMergedCursor(operatorLists.webhooks))
    .action(
      async ({
        limit,
        cursor: position = startCursor,
        ...filter
      }: Filter & { limit: number; cursor?: MergedCursor }) => {
        const { bookings, updates } = toRequests(filter);
        const pageOf = (service: string) => {
          const before = parseInstantKey(findPosition(position, service)?.at ?? '');
          return { limit: limit + 1, ...(before === undefined ? {} : { before }) };
        };
        await context.bus();
        const answers = await callAll<readonly Receipt[]>(
          receiversOf({ bookings, updates }).filter((service) => hasMore(position, service)),
          async (service) =>
            service === 'agents'
              ? (await context.call(agents.rpcs.listReceipts, { ...updates, ...pageOf(service) })).items
              : (await context.call(conversations.rpcs.listReceipts, { ...bookings, ...pageOf(service) })).items,
        );
        const { found, failures } = answers;
        if (found.length === 0) requireAll(answers);
        const { items, next } = mergePages(found, { limit, positionOf });
        const nextPosition = nextCursor(position, { next, missing: [...failures.keys()] });
        const more =
          nextPosition === undefined
            ? []
            : [`More results: --cursor ${encodeMergedCursor(operatorLists.webhooks, nextPosition)}`];
        context.print(items, table(items, columns, 'No receipts found.'), ...more);
        requireAll(answers);
      },
    );

  group
    .command('show')
    .description('Shows a receipt with its redacted body and the sends of its reply')
    .argument('<id>', 'receipt', parseId)
    .action(async (id: number) => {
      const receipt = withoutSecrets(
        await (isUpdate(id)
          ? context.call(agents.rpcs.showReceipt, { id }, `receipt ${id}`)
          : context.call(conversations.rpcs.showReceipt, { id }, `receipt ${id}`)),
      );
      const headers = Object.keys(receipt.headers).length === 0 ? [] : ['', fields(receipt.headers)];
      const sends = 'sends' in receipt ? ['', table(receipt.sends, sendColumns, 'Nothing was sent.')] : [];
      context.print(receipt, describe(receipt), ...headers, ...sends, '', receipt.body ?? describeAbsence(receipt));
    });

  withFilter(group.command('replay'))
    .description(
      'Processes receipts again: one by its id, or all that match, oldest first; sends of unknown outcome are repeated',
    )
    .argument('[id]', 'receipt', parseId)
    .option(
      '--limit <count>',
      `maximum number of receipts, bookings and meetings first; at most ${maxReplayed} of each kind`,
      parseReplayLimit,
      defaultLimit,
    )
    .option('--dry-run', 'count the receipts without processing them')
    .action(async (id: number | undefined, { limit, dryRun, ...filter }: Filter & { limit: number; dryRun?: true }) => {
      if (id === undefined) {
        if (!isFilter(filter))
          throw new CliError(
            'Specify a receipt id or a filter: --provider, --outcome, --since, --until, --text, --person.',
            'usage',
          );
        await replayMatching(context, toRequests(filter), limit, dryRun === true);
        return;
      }
      if (isFilter(filter) || dryRun === true)
        throw new CliError('Specify a receipt id or a filter, not both.', 'usage');
      const rpcs = isUpdate(id) ? agents.rpcs : conversations.rpcs;
      const reply = await context.call(rpcs.replayReceipt, { id }, `receipt ${id}`);
      const done = reply.job_id === null ? 'nothing to process.' : `processed again by job ${reply.job_id}.`;
      context.print(reply, `Receipt ${id}: ${done}`);
    });
}

type Details = ReplyOf<typeof conversations.rpcs.showReceipt> | ReplyOf<typeof agents.rpcs.showReceipt>;

/** Redacts the same fields as the API (P4). */
function withoutSecrets(receipt: Details): Details {
  const body = receipt.body === null ? null : redactBody(receipt.body);
  return { ...receipt, headers: redactHeaders(receipt.headers), body };
}

/** Returns the services that can have matching receipts, in replay order. */
function receiversOf({ bookings, updates }: ReceiptRequests): string[] {
  return [...(bookings === undefined ? [] : ['conversations']), ...(updates === undefined ? [] : ['agents'])];
}

type Counts = Omit<ReplyOf<typeof conversations.rpcs.replayReceipts>, 'more'> & { readonly no_agent?: number };
const countNames = [
  'matched',
  'replayed',
  'without_body',
  'nothing_left',
  'no_agent',
] as const satisfies (keyof Counts)[];

/**
 * Replays matching receipts, bookings first; the limit applies to both services together. When a service does not
 * reply, the receipts of the other are still replayed.
 */
async function replayMatching(
  context: CliContext,
  { bookings, updates }: ReceiptRequests,
  limit: number,
  dryRun: boolean,
): Promise<void> {
  const done: Record<string, Counts> = {};
  const failures = new Map<string, string>();
  const sum = (name: keyof Counts): number => Object.values(done).reduce((total, own) => total + (own[name] ?? 0), 0);
  let more = false;
  await context.bus();
  for (const service of receiversOf({ bookings, updates })) {
    const remaining = limit - sum('matched');
    const request = { limit: Math.min(remaining, maxReplayed), dry_run: dryRun };
    const answers = await callAll(remaining === 0 ? [] : [service], () =>
      service === 'agents'
        ? context.call(agents.rpcs.replayReceipts, { ...updates, ...request })
        : context.call(conversations.rpcs.replayReceipts, { ...bookings, ...request }),
    );
    for (const [name, failure] of answers.failures) failures.set(name, failure);
    for (const { more: hasMore, ...own } of answers.found) {
      done[service] = own;
      more ||= hasMore;
    }
    more ||= remaining === 0;
  }
  const describeCount = (count: number): string => {
    const receipts = count === 1 ? '1 receipt' : `${count} receipts`;
    return `${receipts} ${dryRun ? 'would be' : count === 1 ? 'is' : 'are'} processed again.`;
  };
  const parts = Object.entries(done).map(([service, { replayed }]) => `${service}: ${describeCount(replayed)}`);
  requireDone(failures, parts.join(' '), done);
  context.print(
    { ...Object.fromEntries(countNames.map((name) => [name, sum(name)])), more, dry_run: dryRun },
    sum('matched') === 0 ? 'No receipts match: nothing changed.' : describeCount(sum('replayed')),
    fields({
      'body not stored': sum('without_body') || null,
      'nothing to process': sum('nothing_left') || null,
      'agent does not exist': sum('no_agent') || null,
    }),
    ...(more ? ['More receipts match; the oldest were processed. Raise --limit to process more at once.'] : []),
  );
}

const positionOf = ({ received_at: at, id }: Receipt): Position => ({
  at: formatInstantKey({ at, id }),
  source: isUpdate(id) ? 'agents' : 'conversations',
});

/**
 * Returns the columns of a receipt: the person or agent that received the webhook, the event, and the conversation or
 * chat concerned.
 */
function partsOf(receipt: Receipt): { owner: string; event: string | null; about: string | null } {
  if (receipt.source === 'telegram') {
    const { agent_slug: agent, kind, chat_id: chat } = receipt;
    return { owner: `agent ${agent}`, event: kind, about: chat === null ? null : `chat ${chat}` };
  }
  const { person_id: person, trigger_event: event, conversation_id: id } = receipt;
  return { owner: `person ${person}`, event, about: id === null ? null : `conversation ${id}` };
}

const outcomeOf = ({ outcome }: Receipt): Cell => toned(outcome, toneOf(outcome));

function toneOf(outcome: string): Tone {
  if (outcome === 'applied' || outcome === 'answered') return 'good';
  if (outcome === 'pending') return 'wait';
  return outcome.startsWith('ignored') ? 'dim' : 'bad';
}

const columns = {
  ID: ({ id }: Receipt) => id,
  RECEIVED: ({ received_at: at }: Receipt) => moment(at),
  FOR: (receipt: Receipt) => partsOf(receipt).owner,
  EVENT: (receipt: Receipt) => partsOf(receipt).event,
  OUTCOME: outcomeOf,
  ABOUT: (receipt: Receipt) => partsOf(receipt).about,
  MESSAGE: ({ message }: Receipt) => message,
};

function describe(receipt: Receipt): View {
  const { owner, event, about } = partsOf(receipt);
  const { id, received_at: at, message } = receipt;
  return fields({ id, received: moment(at), for: owner, event, outcome: outcomeOf(receipt), about, message });
}

/** Returns the size and digest of a body that was not stored. */
function describeAbsence(receipt: object): string {
  const { body_digest: digest = null, body_size: size = null } = receipt as {
    body_digest?: string | null;
    body_size?: number | null;
  };
  return digest === null ? '(body not stored)' : `(body of ${size} bytes not stored; SHA-256 ${digest})`;
}

type Send = ReplyOf<typeof agents.rpcs.showReceipt>['sends'][number];

const sendColumns = {
  PART: ({ part }: Send) => part,
  STATUS: ({ status }: Send) => status,
  CHAT: ({ chat_id: chat }: Send) => chat,
  MESSAGE: ({ message_id: message }: Send) => message,
  ERROR: ({ error }: Send) => error,
};
