/** What the searches of people and of holons have in common. */
import { type Command, InvalidArgumentError } from 'commander';
import { parseLimit, parseOffset } from './parse-options.ts';

/** Rows of a list by their places. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** `search [text]`, in pages. */
export function registerSearch(group: Command, description: string): Command {
  return withPage(group.command('search [text]').description(description), 100);
}

export function withPage(command: Command, maxLimit: number): Command {
  const parsePageLimit = (text: string): number => {
    const limit = parseLimit(text);
    if (limit > maxLimit) throw new InvalidArgumentError(`must be 1 to ${maxLimit}.`);
    return limit;
  };
  return command
    .option('--limit <count>', `rows of a page, at most ${maxLimit}`, parsePageLimit, 100)
    .option('--offset <count>', 'rows before the page', parseOffset, 0);
}

export function describeMore({ limit, offset }: Page, count: number): string[] {
  return offset + limit < count ? [`There are more: --offset ${offset + limit}`] : [];
}
