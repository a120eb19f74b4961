/** `webhooks list|show|replay`: receipts of inbound webhooks (architecture §7; spec 03, D20, D33b). */
import { Option, type Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { agents, firstUpdateReceiptId, type UpdateReceipt } from '#services/agents';
import { conversations } from '#services/conversations';
import type { CliContext } from './context.ts';
import { parseId } from './parse-id.ts';
import { parseLimit } from './parse-limit.ts';

interface Options {
  outcome?: string;
  provider?: 'cal.com' | 'telegram';
  limit: number;
  json?: true;
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
    .option('--json', 'print a list of JSON objects')
    .action(async ({ outcome, provider, limit, json }: Options) => {
      const request = { limit, ...(outcome === undefined ? {} : { outcome }) };
      const lists: readonly { items: readonly Receipt[] }[] = await Promise.all([
        provider === 'telegram' ? { items: [] } : context.call(conversations.rpcs.listReceipts, request),
        provider === 'cal.com' ? { items: [] } : context.call(agents.rpcs.listReceipts, request),
      ]);
      const items = lists
        .flatMap((list) => list.items)
        .toSorted(newestFirst)
        .slice(0, limit);
      if (json === true) context.printJson(items);
      else for (const item of items) context.printLine(describe(item));
    });

  group
    .command('show')
    .description('Shows a receipt with its body, and the sends of a reply')
    .argument('<id>', 'receipt', parseId)
    .option('--json', 'print it as JSON')
    .action(async (id: number, { json }: Options) => {
      const receipt = await (isUpdate(id)
        ? context.call(agents.rpcs.showReceipt, { id })
        : context.call(conversations.rpcs.showReceipt, { id }));
      if (json === true) {
        context.printJson(receipt);
        return;
      }
      context.printLine(describe(receipt));
      if ('headers' in receipt) for (const [name, value] of Object.entries(receipt.headers)) context.printLine(`${name}: ${value}`);
      else for (const send of receipt.sends) context.printLine(describeSend(send));
      context.printLine(`\n${receipt.body ?? describeAbsence(receipt)}`);
    });

  group
    .command('replay')
    .description('Works a receipt again; of an update, a send of unknown outcome is repeated')
    .argument('<id>', 'receipt', parseId)
    .option('--json', 'print the job as JSON')
    .action(async (id: number, { json }: Options) => {
      const rpcs = isUpdate(id) ? agents.rpcs : conversations.rpcs;
      const reply = await context.call(rpcs.replayReceipt, { id });
      if (json === true) context.printJson(reply);
      else if (reply.job_id === null) context.printLine(`Receipt ${id}: nothing is left to do.`);
      else context.printLine(`Receipt ${id}: job ${reply.job_id} works it again.`);
    });
}

function newestFirst(one: Receipt, other: Receipt): number {
  return Date.parse(other.received_at) - Date.parse(one.received_at) || other.id - one.id;
}

function describe(receipt: Receipt): string {
  const { id, received_at: receivedAt, outcome, message } = receipt;
  const more = message === null ? '' : `  ${message}`;
  if (receipt.source === 'telegram') {
    const chat = receipt.chat_id === null ? '' : `  chat ${receipt.chat_id}`;
    return `${id}  ${receivedAt}  agent ${receipt.agent_slug}${chat}  ${receipt.kind ?? '–'}  ${outcome}${more}`;
  }
  const conversation = receipt.conversation_id === null ? '' : `  conversation ${receipt.conversation_id}`;
  return `${id}  ${receivedAt}  person ${receipt.person_id}  ${receipt.trigger_event ?? '–'}  ${outcome}${conversation}${more}`;
}

/** What is known of a body that is not there. */
function describeAbsence(receipt: object): string {
  const { body_digest: digest = null, body_size: size = null } = receipt as { body_digest?: string | null; body_size?: number | null };
  return digest === null ? '(the body was not kept)' : `(the body of ${size} bytes was not kept; SHA-256 ${digest})`;
}

function describeSend({
  part,
  status,
  chat_id: chat,
  message_id: message,
  error,
}: ReplyOf<typeof agents.rpcs.showReceipt>['sends'][number]): string {
  const where = [chat === null ? '' : `chat ${chat}`, message === null ? '' : `message ${message}`]
    .filter((text) => text !== '')
    .join(', ');
  return `part ${part}: ${status}${where === '' ? '' : ` (${where})`}${error === null ? '' : `  ${error}`}`;
}
