/** Filter options of `webhooks list` and `webhooks replay`. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { RequestOf } from '#libs/contract';
import { type agents, updateOutcomes } from '#services/agents';
import { bookingOutcomes, type conversations } from '#services/conversations';
import { CliError } from './failure.ts';
import { parseId, parseTime } from './parse-options.ts';

/** Provider → source of its receipts. */
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

/** Request to each service; undefined = no receipt of the service can match. */
export interface ReceiptRequests {
  readonly bookings: Omit<RequestOf<typeof conversations.rpcs.listReceipts>, 'limit'> | undefined;
  readonly updates: Omit<RequestOf<typeof agents.rpcs.listReceipts>, 'limit'> | undefined;
}

export function withFilter(command: Command): Command {
  return command
    .addOption(new Option('--provider <name>', 'only receipts of this provider').choices(providers))
    .addOption(new Option('--outcome <outcome>', 'only receipts with this outcome').choices(outcomes))
    .option('--since <time>', 'only receipts from this time or later: a date, an instant, or an age (2h)', (text) =>
      parseTime(text),
    )
    .option('--until <time>', 'only receipts from before this time', (text) => parseTime(text))
    .option(
      '--text <text>',
      'only receipts whose body contains this text, ignoring the case of ASCII letters',
      parseText,
    )
    .option('--person <id>', 'only receipts for this person', parseId);
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
  if (person !== undefined && provider === 'telegram')
    throw new CliError('Receipts of telegram have no person.', 'usage');
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
    throw new CliError(
      `Receipts of ${provider ?? 'a person'} cannot have the outcome ${outcome}; use one of ${there.join(', ')}.`,
      'usage',
    );
  }
  return requests;
}
