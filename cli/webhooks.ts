/** `webhooks list|show|replay`: receipts of inbound webhooks (rules/cli#admin-cli; D20, D33b). */
import { type Command, InvalidArgumentError } from 'commander';
import { maxReplayed } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import type { GetWebhookReply, ListWebhooksReply, ReplayWebhooksRequest } from '../clients/typescript/operations.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { type Cell, moment, type Tone, toned } from './output/cell.ts';
import { fields, table, type View } from './output/table.ts';
import { describeNext, readPages, requireAll } from './pages.ts';
import { cursorText, parseId, parseLimit } from './parse-options.ts';
import { type Filter, toQuery, withFilter } from './webhook-filter.ts';

type Item = ListWebhooksReply['body']['items'][number];
type Receipt = ReturnType<typeof toReceipt>;

const defaultLimit = 100;

function parseReplayLimit(text: string): number {
  const limit = Number(text);
  if (!/^[1-9]\d{0,5}$/.test(text) || limit > 2 * maxReplayed)
    throw new InvalidArgumentError(`must be between 1 and ${2 * maxReplayed}.`);
  return limit;
}

export function register(group: Command, context: CliContext): void {
  withFilter(group.command('list'))
    .description('Lists receipts of bookings, meetings and messaging updates, newest first')
    .option('--limit <count>', 'maximum number of results, at most 1000', parseLimit, defaultLimit)
    .option('--cursor <cursor>', cursorText)
    .action(async ({ limit, cursor, ...filter }: Filter & { limit: number; cursor?: string }) => {
      const query = toQuery(filter);
      const page = await readPages(
        { limit, cursor },
        async (part) => (await context.http((api) => api.listWebhooks({ query: { ...query, ...part } }))).body,
      );
      const items = page.items.map(toReceipt);
      context.print(items, table(items, columns, 'No receipts found.'), ...describeNext(page));
      requireAll(page.missing);
    });

  group
    .command('show')
    .description('Shows a receipt with its redacted body and the sends of its reply')
    .argument('<id>', 'receipt', parseId)
    .action(async (id: number) => {
      const call = { path: { receipt_id: id } };
      const { body: found } = await context
        .http((api) => api.getWebhook(call))
        .catch((error: unknown) => {
          throw error instanceof AppError && error.code === 'not_found' ? receiptNotFound(id) : error;
        });
      const { headers, body, sends, ...item } = found;
      const isUpdate = item.kind === 'telegram';
      const receipt = { ...toReceipt(item), headers, body, ...(isUpdate ? { sends } : {}) };
      context.print(
        receipt,
        describe(receipt),
        ...(Object.keys(headers).length === 0 ? [] : ['', fields(headers)]),
        ...(isUpdate ? ['', table(sends, sendColumns, 'Nothing was sent.')] : []),
        '',
        body ?? describeAbsence(found),
      );
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
      const query = toQuery(filter);
      const isFiltered = Object.keys(query).length > 0;
      if (id === undefined && !isFiltered)
        throw new CliError(
          'Specify a receipt id or a filter: --provider, --outcome, --since, --until, --q, --person.',
          'usage',
        );
      if (id !== undefined && (isFiltered || dryRun === true))
        throw new CliError('Specify a receipt id or a filter, not both.', 'usage');
      if (id === undefined) await replayMatching(context, { filter: query, limit, dry_run: dryRun === true });
      else await replayOne(context, id);
    });
}

const receiptNotFound = (id: number): CliError => new CliError(`There is no receipt ${id}.`, 'not_found');

/**
 * Returns a receipt as the output of `--json`: `source` is its kind, `kind` and `trigger_event` are the type of its
 * event.
 */
function toReceipt(item: Item) {
  const { kind, event, person_id: person, agent_slug: agent, conversation_id, update_id, chat_id, reconciled } = item;
  const { id, received_at, outcome, message, deliveries, processed_at, body_digest, body_size } = item;
  const common = { id, received_at, outcome, message, deliveries, processed_at, body_digest, body_size };
  return kind === 'telegram'
    ? { ...common, source: kind, agent_slug: agent, update_id, kind: event, chat_id }
    : {
        ...common,
        source: kind,
        person_id: kind === 'meeting' || person === null ? null : String(person),
        trigger_event: event,
        reconciled,
        conversation_id,
      };
}

/** Replays one receipt. @throws CliError when it cannot be replayed */
async function replayOne(context: CliContext, id: number): Promise<void> {
  const { body: reply } = await context.http((api) => api.replayWebhooks({ body: { ids: [id] } }));
  if (reply.selected === 0) throw receiptNotFound(id);
  if (reply.without_body > 0)
    throw new CliError(`The body of receipt ${id} was not stored or was removed, so it cannot be processed again.`);
  if (reply.no_agent > 0)
    throw new CliError(`The agent of receipt ${id} does not exist or has no webhook secret to verify the update with.`);
  const [job] = reply.job_ids;
  const done = job === undefined ? 'nothing to process.' : `processed again by job ${job}.`;
  context.print({ id, job_id: job ?? null }, `Receipt ${id}: ${done}`);
}

/** Replays matching receipts. When a service does not reply, the receipts of the other are still replayed. */
async function replayMatching(context: CliContext, body: ReplayWebhooksRequest['body']): Promise<void> {
  const { body: reply } = await context.http((api) => api.replayWebhooks({ body }));
  const dryRun = body.dry_run === true;
  const { selected: matched, without_body, nothing_left, no_agent, more, missing } = reply;
  const replayed = dryRun ? reply.matched : reply.changed;
  const counts = { matched, replayed, without_body, nothing_left, no_agent };
  const receipts = replayed === 1 ? '1 receipt' : `${replayed} receipts`;
  const summary = `${receipts} ${dryRun ? 'would be' : replayed === 1 ? 'is' : 'are'} processed again.`;
  const responded = missing.includes('agents') ? 'conversations' : 'agents';
  requireAll(missing, `${responded}: ${summary} `, { done: { [responded]: counts } });
  context.print(
    { ...counts, more, dry_run: dryRun },
    matched === 0 ? 'No receipts match: nothing changed.' : summary,
    fields({
      'body not stored': without_body || null,
      'nothing to process': nothing_left || null,
      'agent does not exist': no_agent || null,
    }),
    ...(more ? ['More receipts match; the oldest were processed. Raise --limit to process more at once.'] : []),
  );
}

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
const describeAbsence = ({ body_digest: digest, body_size: size }: Item): string =>
  digest === null ? '(body not stored)' : `(body of ${size} bytes not stored; SHA-256 ${digest})`;

type Send = GetWebhookReply['body']['sends'][number];

const sendColumns = {
  PART: ({ part }: Send) => part,
  STATUS: ({ status }: Send) => status,
  CHAT: ({ chat_id: chat }: Send) => chat,
  MESSAGE: ({ message_id: message }: Send) => message,
  ERROR: ({ error }: Send) => error,
};
