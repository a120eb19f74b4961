/**
 * Options that several commands have, each under one name (rules/cli#options): `--limit` and `--cursor` of lists,
 * `--since` and `--until`, `--yes`. Names of earlier releases are still accepted.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { cursorText, parseLimit, parseOffset, parseTime } from './parse-options.ts';

/** Adds `--limit`. @param what the rows, e.g. `jobs` */
export function withLimit(command: Command, what: string, { max = 1_000, preset = 100 } = {}): Command {
  const parse = (text: string): number => {
    const limit = parseLimit(text);
    if (limit > max) throw new InvalidArgumentError(`must be between 1 and ${max}.`);
    return limit;
  };
  return command.option('--limit <count>', `${what} per page, at most ${max}`, parse, preset);
}

/** Adds `--limit` and `--cursor` of a list. @param what the rows, e.g. `jobs` */
export function withPages(command: Command, what: string, limits: { max?: number; preset?: number } = {}): Command {
  return withLimit(command, what, limits).option('--cursor <cursor>', cursorText);
}

/** Options of a list whose cursors are numbers of rows to skip. */
export interface OffsetPage {
  readonly limit: number;
  readonly cursor: number;
}

/** Adds `--limit` and `--cursor` of a list of the API that is read by offset. */
export function withOffsetPages(
  command: Command,
  what: string,
  limits: { max?: number; preset?: number } = {},
): Command {
  withLimit(command, what, limits).option('--cursor <cursor>', cursorText, parseOffset, 0);
  return withFormerName(command, '--offset <count>', '--cursor');
}

/** Returns the cursor of the next page of such a list; null at the end. @param count rows of the whole list */
export const nextOffset = ({ limit, cursor }: OffsetPage, count: number): string | null =>
  cursor + limit < count ? String(cursor + limit) : null;

/** Adds `--since`. @param what the rows, e.g. `only jobs created` */
export function withSince(command: Command, what: string, { isRequired = false } = {}): Command {
  const description = `${what} at this time or later: a date, an instant, or an age (7d)`;
  const option = new Option('--since <time>', description).argParser((text) => parseTime(text));
  return command.addOption(option.makeOptionMandatory(isRequired));
}

/** Adds `--since` and `--until`. @param what the rows, e.g. `only jobs created` */
export const withTimes = (command: Command, what: string): Command =>
  withSince(command, what).option('--until <time>', `${what} before this time`, (text) => parseTime(text));

/** Adds the option of irreversible commands, without which they ask. */
export const withConfirmation = (command: Command): Command => command.option('--yes', 'skip the confirmation');

/**
 * Accepts an option under a name of an earlier release, which --help does not list.
 * @param flags the former name with its value, e.g. `--offset <count>`
 * @param name the option, e.g. `--cursor`, of this command
 * @param parse returns its value; default: as the option does
 */
export function withFormerName(
  command: Command,
  flags: string,
  name: string,
  parse?: (text: string) => unknown,
): Command {
  const option = command.options.find(({ long }) => long === name);
  if (option === undefined) throw new Error(`${command.name()} has no option ${name}`);
  const former = new Option(flags).hideHelp();
  former.attributeName = () => option.attributeName();
  const read = parse ?? option.parseArg;
  return command.addOption(read === undefined ? former : former.argParser(read));
}
