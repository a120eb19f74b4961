/** Filter options of `webhooks list` and `webhooks replay`. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { updateOutcomes } from '#services/agents';
import { bookingOutcomes } from '#services/conversations';
import type { ListWebhooksRequest } from '../clients/typescript/operations.ts';
import { withFormerName } from './common-options.ts';
import { CliError } from './failure.ts';
import { parseId, parseTime } from './parse-options.ts';

/** Provider → kind of its webhooks. */
const kinds = { 'cal.com': 'booking', realtimekit: 'meeting', telegram: 'telegram' } as const;
type Provider = keyof typeof kinds;
const providers = Object.keys(kinds) as Provider[];
const outcomes: readonly string[] = [...new Set<string>([...bookingOutcomes, ...updateOutcomes])];

export interface Filter {
  readonly outcome?: string;
  readonly provider?: Provider;
  readonly since?: string;
  readonly until?: string;
  readonly q?: string;
  readonly person?: number;
}

type Query = Omit<NonNullable<ListWebhooksRequest['query']>, 'limit' | 'cursor'>;

export function withFilter(command: Command): Command {
  command
    .addOption(new Option('--provider <name>', 'only receipts of this provider').choices(providers))
    .addOption(new Option('--outcome <outcome>', 'only receipts with this outcome').choices(outcomes))
    .option('--since <time>', 'only receipts from this time or later: a date, an instant, or an age (2h)', (text) =>
      parseTime(text),
    )
    .option('--until <time>', 'only receipts from before this time', (text) => parseTime(text))
    .option('--q <text>', 'only receipts whose body contains this text, ignoring the case of ASCII letters', parseText)
    .option('--person <id>', 'only receipts for this person', parseId);
  return withFormerName(command, '--text <text>', '--q');
}

function parseText(text: string): string {
  if (text.length < 3 || text.length > 200) throw new InvalidArgumentError('must have 3 to 200 characters.');
  return text;
}

/** @throws CliError when no receipt of the provider can have the outcome */
export function toQuery({ outcome, provider, since, until, q, person }: Filter): Query {
  if (person !== undefined && provider === 'telegram')
    throw new CliError('Receipts of telegram have no person.', 'usage');
  const kind = provider === undefined ? undefined : kinds[provider];
  const possible: readonly string[] =
    kind === 'telegram' ? updateOutcomes : kind !== undefined || person !== undefined ? bookingOutcomes : outcomes;
  if (outcome !== undefined && !possible.includes(outcome))
    throw new CliError(
      `Receipts of ${provider ?? 'a person'} cannot have the outcome ${outcome}; use one of ${possible.join(', ')}.`,
      'usage',
    );
  const given = { kind, outcome, person_id: person, from: since, to: until, q };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
