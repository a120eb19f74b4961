/** Shows every time both relative and absolute. */
import { language } from './language.js';
import { createShared, html } from './ui.js';

const now = createShared(Date.now());
setInterval(() => document.hidden || now.write(Date.now()), 1_000);
document.addEventListener('visibilitychange', () => document.hidden || now.write(Date.now()));

const relative = new Intl.RelativeTimeFormat(language, { numeric: 'always', style: 'short' });
const absolute = new Intl.DateTimeFormat(language, {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});
/** @type {readonly (readonly [Intl.RelativeTimeFormatUnit, number])[]} */
const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** @param {number} seconds in the future; negative = in the past */
function toRelative(seconds) {
  // The page's clock ticks once a second, so the time of a recent event can be later than the clock.
  if (seconds >= 0 && seconds <= 2) return relative.format(-0, 'second');
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? /** @type {const} */ (['second', 1]);
  return relative.format(Math.trunc(seconds / size), unit);
}

/** @param {number} at Unix time in milliseconds */
export function useAge(at) {
  return toRelative(Math.round((at - now.use()) / 1000));
}

/** @param {{ at: string | null | undefined, none?: string }} properties */
export function Time({ at, none = 'never' }) {
  const seen = now.use();
  if (at === null || at === undefined) return html`<span class="faint">${none}</span>`;
  const ms = Date.parse(at);
  return html`<time datetime=${at} title=${at}
    >${toRelative(Math.round((ms - seen) / 1000))} <small>${absolute.format(ms)}</small></time
  >`;
}

/** Returns the value of a `datetime-local` field for an instant. @param {string} at */
export function toField(at) {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return '';
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/**
 * Returns the instant for the value of a `datetime-local` field; returns an empty string for an empty field. @param
 * {string} text
 */
export function fromField(text) {
  const date = new Date(text);
  return text === '' || Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

/** Formats a duration. @param {number} ms */
export function toDuration(ms) {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60
    ? `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats a position in a recording. @param {number} ms */
export function toClock(ms) {
  const seconds = Math.floor(ms / 1_000);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
