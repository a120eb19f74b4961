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

/** Returns a cell with an ISO 8601 time, which a terminal shows as a short local time. */
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
  return screen.hasShortTimes ? describeTime(Date.parse(cell.at), screen.now()) : inLine(cell.at);
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

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;
const hourMs = 3_600_000;

/**
 * Returns a time as text: the distance within an hour (`3 min ago`), else the time of the local time zone: `14:05` today,
 * `28 Nov 14:05` of this year, `28 Nov 2025` of others.
 * @param at Unix time in milliseconds, as `now`
 */
export function describeTime(at: number, now: number): string {
  if (!Number.isFinite(at)) return '–';
  if (Math.abs(at - now) < hourMs) return describeDistance(at - now);
  const [time, today] = [new Date(at), new Date(now)];
  const day = `${time.getDate()} ${months[time.getMonth()]}`;
  if (time.getFullYear() !== today.getFullYear()) return `${day} ${time.getFullYear()}`;
  const clock = [time.getHours(), time.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
  return time.toDateString() === today.toDateString() ? clock : `${day} ${clock}`;
}

function describeDistance(distanceMs: number): string {
  const seconds = Math.floor(Math.abs(distanceMs) / 1_000);
  if (seconds === 0) return 'now';
  const text = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
  return distanceMs > 0 ? `in ${text}` : `${text} ago`;
}
