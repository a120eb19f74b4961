/** One value of a table: text, a number, a time or a coloured word. */
import { toPrintable } from './printable.ts';
import type { Screen } from './screen.ts';

const tones = { good: 'green', bad: 'red', wait: 'yellow', busy: 'cyan', dim: 'dim' } as const;

export type Tone = keyof typeof tones;

interface Moment {
  readonly at: string;
}

interface Toned {
  readonly text: string;
  readonly tone: Tone | undefined;
}

export type Cell = string | number | boolean | Moment | Toned | null | undefined;

/** Returns a cell with an ISO 8601 time, which a terminal shows as a relative time. */
export const moment = (at: string | null): Moment | null => (at === null ? null : { at });

/** Returns a cell with a word that is coloured in a terminal. */
export const toned = (text: string, tone: Tone | undefined): Toned => ({ text, tone });

export function isAbsent(cell: Cell): cell is null | undefined | '' {
  return cell === null || cell === undefined || cell === '';
}

/** Returns the text of a cell, without line breaks and control characters. */
export function textOf(cell: Cell, screen: Screen): string {
  if (isAbsent(cell)) return '–';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  if (typeof cell !== 'object') return inLine(String(cell));
  if ('text' in cell) return inLine(cell.text);
  return screen.hasRelativeTimes ? describeDistance(Date.parse(cell.at) - screen.now()) : inLine(cell.at);
}

/** Returns the text with the colour of the cell. @param text of the cell, or one line of that text */
export function paintCell(cell: Cell, text: string, screen: Screen): string {
  if (isAbsent(cell)) return screen.paint('dim', text);
  return typeof cell === 'object' && 'tone' in cell && cell.tone !== undefined
    ? screen.paint(tones[cell.tone], text)
    : text;
}

/** Replaces line breaks and control characters. */
export function inLine(text: string): string {
  return toPrintable(text)
    .replaceAll(/[\n\t ]+/g, ' ')
    .trim();
}

/** Seconds of each unit, and the count at which the next larger unit is used. */
const units = [
  { seconds: 1, max: 60, one: 's', many: 's' },
  { seconds: 60, max: 60, one: 'min', many: 'min' },
  { seconds: 3_600, max: 48, one: 'h', many: 'h' },
  { seconds: 86_400, max: 60, one: 'day', many: 'days' },
  { seconds: 30.44 * 86_400, max: 24, one: 'month', many: 'months' },
  { seconds: 365.25 * 86_400, max: Infinity, one: 'year', many: 'years' },
] as const;

/** Returns a time distance as text, e.g. `3 min ago`. @param distanceMs positive for the future */
export function describeDistance(distanceMs: number): string {
  const seconds = Math.floor(Math.abs(distanceMs) / 1_000);
  if (!Number.isFinite(seconds)) return '–';
  if (seconds === 0) return 'now';
  const unit = units.find((item) => seconds < item.seconds * item.max) ?? units[units.length - 1]!;
  const count = Math.floor(seconds / unit.seconds);
  const text = `${count} ${count === 1 ? unit.one : unit.many}`;
  return distanceMs > 0 ? `in ${text}` : `${text} ago`;
}
