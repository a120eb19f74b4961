/** Which receipts of webhooks are meant: `webhooks list` and `webhooks replay` take the same options. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { RequestOf } from '#libs/contract';
import { type agents, updateOutcomes } from '#services/agents';
import { bookingOutcomes, type conversations } from '#services/conversations';
import { CliError } from './failure.ts';
import { parseId, parseTime } from './parse-options.ts';

/** Who sent it, and the source that its receipts name. */
const sources = { 'cal.com': 'booking', realtimekit: 'meeting', telegram: 'telegram' } as const;
type Provider = keyof typeof sources;
const providers = Object.keys(sources) as Provider[];
const outcomes = [...new Set<string>([...bookingOutcomes, ...updateOutcomes])];

export interface Filter {
  readonly outcome?: string;
  readonly provider?: Provider;
  readonly since?: string;
  readonly until?: string;
  readonly text?: string;
  readonly person?: number;
}

/** What each service is asked for; undefined = it has no such receipt. */
export interface ReceiptRequests {
  readonly bookings: Omit<RequestOf<typeof conversations.rpcs.listReceipts>, 'limit'> | undefined;
  readonly updates: Omit<RequestOf<typeof agents.rpcs.listReceipts>, 'limit'> | undefined;
}

export function withFilter(command: Command): Command {
  return command
    .addOption(new Option('--provider <name>', 'only those of this provider').choices(providers))
    .addOption(new Option('--outcome <outcome>', 'only those with this outcome').choices(outcomes))
    .option('--since <time>', 'only those that came then or later: a date, an instant, or how long ago (2h)', (text) => parseTime(text))
    .option('--until <time>', 'only those that came before', (text) => parseTime(text))
    .option('--text <text>', 'only those whose body has this text; letters of ASCII match whatever their case', parseText)
    .option('--person <id>', 'only those whose path names this person', parseId);
}

function parseText(text: string): string {
  if (text.length < 3 || text.length > 200) throw new InvalidArgumentError('must have 3 to 200 characters.');
  return text;
}

export function isFilter({ outcome, provider, since, until, text, person }: Filter): boolean {
  return [outcome, provider, since, until, text, person].some((value) => value !== undefined);
}

/** @throws CliError when no receipt of the provider can have the outcome. */
export function toRequests({ outcome, provider, since, until, text, person }: Filter): ReceiptRequests {
  const times = {
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(text === undefined ? {} : { text }),
  };
  if (person !== undefined && provider === 'telegram') throw new CliError('No receipt of telegram names a person.', 'usage');
  const source = provider === undefined ? undefined : sources[provider];
  const ofBookings = bookingOutcomes.find((known) => known === outcome);
  const ofUpdates = updateOutcomes.find((known) => known === outcome);
  const isAny = outcome === undefined;
  const requests: ReceiptRequests = {
    bookings:
      source === 'telegram' || (!isAny && ofBookings === undefined)
        ? undefined
        : {
            ...times,
            ...(ofBookings === undefined ? {} : { outcome: ofBookings }),
            ...(source === undefined ? {} : { source }),
            ...(person === undefined ? {} : { person_id: person }),
          },
    updates:
      person !== undefined || (source !== undefined && source !== 'telegram') || (!isAny && ofUpdates === undefined)
        ? undefined
        : { ...times, ...(ofUpdates === undefined ? {} : { outcome: ofUpdates }) },
  };
  if (requests.bookings === undefined && requests.updates === undefined) {
    const there = source === 'telegram' ? updateOutcomes : bookingOutcomes;
    throw new CliError(`No receipt of ${provider ?? 'a person'} has the outcome ${outcome}; theirs are ${there.join(', ')}.`, 'usage');
  }
  return requests;
}
