/** Where a command writes: a terminal that somebody looks at, or a file or pipe that a program reads. */
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export interface Screen {
  /** Characters of a line; without a terminal no line is too long. */
  readonly columns: number;
  /** A reader wants "3 min ago", a program the time itself. */
  readonly isTerminal: boolean;
  now(): number;
  /** Colour in a terminal alone; NO_COLOR and FORCE_COLOR decide otherwise. */
  paint(style: Style, text: string): string;
}

/** Of a terminal that does not say how wide it is. */
const usualColumns = 80;

export function screenOf(stream: NodeJS.WriteStream): Screen {
  return {
    columns: stream.isTTY ? stream.columns || usualColumns : Infinity,
    isTerminal: stream.isTTY,
    now: Date.now,
    paint: (style, text) => styleText(style, text, { stream }),
  };
}
