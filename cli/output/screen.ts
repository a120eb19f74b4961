/** The output of a command: a terminal, or a file or pipe. */
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export interface Screen {
  /** Columns per line; infinite when the output is not a terminal. */
  readonly columns: number;
  readonly isTerminal: boolean;
  /** True for short local times such as `28 Nov 14:05`: in a terminal without --utc. */
  readonly hasShortTimes: boolean;
  now(): number;
  /** Colours a text if the output is a terminal, unless NO_COLOR or FORCE_COLOR is set. */
  paint(style: Style, text: string): string;
}

/** Columns that are assumed when a terminal does not report its width. */
const usualColumns = 80;

export function screenOf(stream: NodeJS.WriteStream, utc = false): Screen {
  return {
    columns: stream.isTTY ? stream.columns || usualColumns : Infinity,
    isTerminal: stream.isTTY,
    hasShortTimes: stream.isTTY && !utc,
    now: Date.now,
    paint: (style, text) => styleText(style, text, { stream }),
  };
}
