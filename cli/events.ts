/** `events tail|prune`: the event feed (rules/cli#admin-cli; V10). */
import type { Command } from 'commander';
import type { ListEventsReply } from '../clients/typescript/operations.ts';
import { withConfirmation, withFormerName } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { inLine } from './output/cell.ts';
import { parseLimit, parseTime } from './parse-options.ts';

interface TailOptions {
  type?: string[];
  cursor?: string;
  limit?: number;
}

type FeedEvent = ListEventsReply['body']['items'][number];

const waitSeconds = 20;

export function register(group: Command, context: CliContext): void {
  const tail = group
    .command('tail')
    .description('Follows the feed, one line per event (JSON with --json), until Ctrl-C')
    .option('--type <type...>', 'event types, or prefixes such as "person.*"; default: all')
    .option('--cursor <cursor>', 'start after this cursor (default: now; empty: the oldest stored event)')
    .option('--limit <count>', 'stop after this many events, at most 1000', parseLimit);
  withFormerName(tail, '--types <list>', '--type', (list) => list.split(','));
  withFormerName(tail, '--after <cursor>', '--cursor');
  withFormerName(tail, '--count <count>', '--limit').action(async (options: TailOptions) => {
    for await (const item of follow(context, options))
      process.stdout.write(`${context.json ? JSON.stringify(item) : describe(item)}\n`);
  });

  const prune = withConfirmation(group.command('prune'))
    .description('Removes events from before a time; older cursors then return 410')
    .requiredOption('--until <time>', 'events before this time: a date, an instant, or an age (7d)', (text) =>
      parseTime(text),
    );
  withFormerName(prune, '--before <time>', '--until').action(
    async ({ until: before, yes }: { until: string; yes?: true }) => {
      if (yes !== true) await confirm(`This removes all events from before ${before}.`, 'prune');
      const { removed } = (await context.http((api) => api.pruneEvents({ body: { before } }))).body;
      context.print({ removed }, `${removed} events removed.`);
    },
  );
}

async function* follow(
  context: CliContext,
  { type: types, cursor: start = 'latest', limit = Infinity }: TailOptions,
): AsyncGenerator<FeedEvent> {
  let cursor = start === '' ? undefined : start;
  for (let remaining = limit; remaining > 0;) {
    const request = {
      ...(types !== undefined && { types: types.flatMap((list) => list.split(',')) }),
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
