/** `webhooks list|show|replay`: receipts of inbound webhooks (architecture §7; spec 03, D20, D33b). */
import { Option, type Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { agents, firstUpdateReceiptId, type UpdateReceipt } from '#services/agents';
import { conversations } from '#services/conversations';
import type { CliContext } from './context.ts';
import { type Cell, moment, type Tone, toned } from './output/cell.ts';
import { fields, table, type View } from './output/table.ts';
import { parseId } from './parse-id.ts';
import { parseLimit } from './parse-limit.ts';

interface Options {
  outcome?: string;
  provider?: 'cal.com' | 'telegram';
  limit: number;
}

type BookingReceipt = ReplyOf<typeof conversations.rpcs.listReceipts>['items'][number];
type Receipt = BookingReceipt | UpdateReceipt;

const defaultLimit = 100;

/** One number names one receipt: those of messaging updates begin high. */
function isUpdate(id: number): boolean {
  return id >= firstUpdateReceiptId;
}

export function register(program: Command, context: CliContext): void {
  const group = program.command('webhooks').description('Receipts of inbound webhooks and what became of them');

  group
    .command('list')
    .description('Lists receipts of bookings and of messaging updates, newest first')
    .option('--outcome <outcome>', 'only those, e.g. pending, applied, answered, send_unknown, rejected_secret, rejected_signature')
    .addOption(new Option('--provider <name>', 'only those of this provider').choices(['cal.com', 'telegram']))
    .option('--limit <count>', 'at most this many', parseLimit, defaultLimit)
    .action(async ({ outcome, provider, limit }: Options) => {
      const request = { limit, ...(outcome === undefined ? {} : { outcome }) };
      const lists: readonly { items: readonly Receipt[] }[] = await Promise.all([
        provider === 'telegram' ? { items: [] } : context.call(conversations.rpcs.listReceipts, request),
        provider === 'cal.com' ? { items: [] } : context.call(agents.rpcs.listReceipts, request),
      ]);
      const items = lists
        .flatMap((list) => list.items)
        .toSorted(newestFirst)
        .slice(0, limit);
      context.print(items, table(items, columns, 'There are no such receipts.'));
    });

  group
    .command('show')
    .description('Shows a receipt with its body, and the sends of a reply')
    .argument('<id>', 'receipt', parseId)
    .action(async (id: number) => {
      const receipt = await (isUpdate(id)
        ? context.call(agents.rpcs.showReceipt, { id }, `receipt ${id}`)
        : context.call(conversations.rpcs.showReceipt, { id }, `receipt ${id}`));
      const more = 'headers' in receipt ? fields(receipt.headers) : table(receipt.sends, sendColumns, 'Nothing was sent.');
      context.print(receipt, describe(receipt), '', more, '', receipt.body ?? describeAbsence(receipt));
    });

  group
    .command('replay')
    .description('Works a receipt again; of an update, a send of unknown outcome is repeated')
    .argument('<id>', 'receipt', parseId)
    .action(async (id: number) => {
      const rpcs = isUpdate(id) ? agents.rpcs : conversations.rpcs;
      const reply = await context.call(rpcs.replayReceipt, { id }, `receipt ${id}`);
      const done = reply.job_id === null ? 'nothing is left to do.' : `job ${reply.job_id} works it again.`;
      context.print(reply, `Receipt ${id}: ${done}`);
    });
}

function newestFirst(one: Receipt, other: Receipt): number {
  return Date.parse(other.received_at) - Date.parse(one.received_at) || other.id - one.id;
}

/** Whom it is for and what it tells of: a person and a booking, or an agent and an update of its bot. */
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

/** What is known of a body that is not there. */
function describeAbsence(receipt: object): string {
  const { body_digest: digest = null, body_size: size = null } = receipt as { body_digest?: string | null; body_size?: number | null };
  return digest === null ? '(the body was not kept)' : `(the body of ${size} bytes was not kept; SHA-256 ${digest})`;
}

type Send = ReplyOf<typeof agents.rpcs.showReceipt>['sends'][number];

const sendColumns = {
  PART: ({ part }: Send) => part,
  STATUS: ({ status }: Send) => status,
  CHAT: ({ chat_id: chat }: Send) => chat,
  MESSAGE: ({ message_id: message }: Send) => message,
  ERROR: ({ error }: Send) => error,
};
