/** Options of `people search` and `holons search`. */
import { type Command, InvalidArgumentError } from 'commander';
import { parseLimit, parseOffset } from './parse-options.ts';

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export function registerSearch(group: Command, description: string): Command {
  return withPage(group.command('search [text]').description(description), 100);
}

export function withPage(command: Command, maxLimit: number): Command {
  const parsePageLimit = (text: string): number => {
    const limit = parseLimit(text);
    if (limit > maxLimit) throw new InvalidArgumentError(`must be between 1 and ${maxLimit}.`);
    return limit;
  };
  return command
    .option('--limit <count>', `rows per page, at most ${maxLimit}`, parsePageLimit, 100)
    .option('--offset <count>', 'number of rows to skip', parseOffset, 0);
}

export function describeMore({ limit, offset }: Page, count: number): string[] {
  return offset + limit < count ? [`More results: --offset ${offset + limit}`] : [];
}
