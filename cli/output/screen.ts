/** The output of a command: a terminal, or a file or pipe. */
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export interface Screen {
  /** Width of a line; infinite without a terminal. */
  readonly columns: number;
  /** Terminals show relative times such as "3 min ago". */
  readonly isTerminal: boolean;
  now(): number;
  /** Colours only in a terminal, unless NO_COLOR or FORCE_COLOR is set. */
  paint(style: Style, text: string): string;
}

/** Width of a terminal that does not report it. */
const usualColumns = 80;

export function screenOf(stream: NodeJS.WriteStream): Screen {
  return {
    columns: stream.isTTY ? stream.columns || usualColumns : Infinity,
    isTerminal: stream.isTTY,
    now: Date.now,
    paint: (style, text) => styleText(style, text, { stream }),
  };
}
