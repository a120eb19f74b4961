/** `events tail|prune`: the event feed (rules/cli#admin-cli; V10). */
import type { Command } from 'commander';
import type { ListEventsReply } from '../clients/typescript/operations.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { inLine } from './output/cell.ts';
import { parseLimit, parseTime } from './parse-options.ts';

interface TailOptions {
  types?: string;
  after?: string;
  count?: number;
}

type FeedEvent = ListEventsReply['body']['items'][number];

const waitSeconds = 20;

export function register(group: Command, context: CliContext): void {
  group
    .command('tail')
    .description('Follows the feed, one line per event (JSON with --json), until Ctrl-C')
    .option(
      '--types <list>',
      'only these types, separated by commas; conversation.* matches all types of conversations',
    )
    .option('--after <cursor>', 'start after this cursor (default: now; empty: the oldest stored event)')
    .option('--count <count>', 'stop after this many events', parseLimit)
    .action(async (options: TailOptions) => {
      for await (const item of follow(context, options))
        process.stdout.write(`${context.json ? JSON.stringify(item) : describe(item)}\n`);
    });

  group
    .command('prune')
    .description('Removes events from before a time; older cursors then return 410')
    .requiredOption('--before <time>', 'a date, an instant, or an age (7d)', (text) => parseTime(text))
    .option('--yes', 'skip the confirmation')
    .action(async ({ before, yes }: { before: string; yes?: true }) => {
      if (yes !== true) await confirm(`This removes all events from before ${before}.`, 'prune');
      const { removed } = (await context.http((api) => api.pruneEvents({ body: { before } }))).body;
      context.print({ removed }, `${removed} events removed.`);
    });
}

async function* follow(
  context: CliContext,
  { types, after = 'latest', count = Infinity }: TailOptions,
): AsyncGenerator<FeedEvent> {
  let cursor = after === '' ? undefined : after;
  for (let remaining = count; remaining > 0;) {
    const request = {
      ...(types !== undefined && { types: types.split(',') }),
      ...(cursor !== undefined && { after: cursor }),
      wait: waitSeconds,
    };
    const query = { ...request, limit: Math.min(remaining, 500) };
    const page = (await context.http((api) => api.listEvents({ query }))).body;
    yield* page.items;
    remaining -= page.items.length;
    cursor = page.next;
  }
}

function describe({ occurred_at: at, type, subject, data, cursor }: FeedEvent): string {
  return [at, type, `${subject.type} ${subject.id}`, JSON.stringify(data), cursor].map(inLine).join('  ');
}
