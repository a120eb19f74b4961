/**
 * Writes the transcript as JSON, WebVTT, SubRip and plain text (T1, T5). Each row is one segment, cue or line and rows
 * are not merged, so that clients can reconstruct the rows.
 */
import { formatInstant, type Instant } from '#libs/infrastructure/time';
import { describeSpeaker, toMilliseconds } from '../../speaker.ts';
import { toLine, type TranscriptRow, type TranscriptWriter, type WriterOptions } from './row.ts';

/** Fields of the JSON document before its segments. */
export interface DocumentHead {
  readonly conversationId: number;
  /** Null when the rows were never filtered by a window. */
  readonly window: { readonly start: string; readonly end: string } | null;
  /** Instant from which the rows' times are counted; undefined = unknown. */
  readonly origin: Instant | undefined;
}

/** Writes JSON, one page of rows at a time. */
export function createJsonWriter(
  { conversationId, window, origin }: DocumentHead,
  options: WriterOptions,
): TranscriptWriter {
  const speakers = new Map<number, string>();
  const describe = (personId: number, name: string): string => {
    const known = speakers.get(personId) ?? JSON.stringify(describeSpeaker(personId, name));
    speakers.set(personId, known);
    return known;
  };
  return createRowWriter(options, {
    head: `{"conversation_id":${conversationId},"window":${JSON.stringify(window)},"segments":[`,
    row: ({ startUs, endUs, personId, text }, { name, index, position }) => {
      const startedAt = origin === undefined ? 'null' : `"${formatInstant(origin + BigInt(startUs))}"`;
      return (
        `${position === 0 ? '' : ','}{"index":${index},"start_ms":${toMilliseconds(startUs)},"end_ms":${toMilliseconds(endUs)}` +
        `,"started_at":${startedAt},"speaker":${describe(personId, name)},"text":${JSON.stringify(text)}}`
      );
    },
    tail: ']}',
  });
}

/**
 * Writes WebVTT. Every character that could end a cue or start a tag becomes a character reference. `shiftMs` moves all
 * cues.
 */
export function createVttWriter(options: WriterOptions, shiftMs = 0): TranscriptWriter {
  return createRowWriter(options, {
    head: 'WEBVTT\n',
    row: (row, { name }) => {
      const [from, to] = findCue(row, shiftMs);
      return `\n${formatTime(from, '.')} --> ${formatTime(to, '.')}\n<v ${escapeVtt(toLine(name))}>${escapeVtt(toLine(row.text))}\n`;
    },
  });
}

/**
 * Writes SubRip, which has no escapes. An arrow in a text is shortened, and characters that players interpret as markup
 * are replaced by visible ones.
 */
export function createSrtWriter(options: WriterOptions): TranscriptWriter {
  return createRowWriter(options, {
    row: (row, { name, position }) => {
      const [from, to] = findCue(row, 0);
      const line = toLine(`${name}: ${row.text}`).replaceAll(/-+>?/g, shortenArrow);
      return `${position === 0 ? '' : '\n'}${position + 1}\n${formatTime(from, ',')} --> ${formatTime(to, ',')}\n${showMarkup(line)}\n`;
    },
  });
}

/** Shortens an arrow. The expression matches whole runs of dashes, so a run is not scanned again from each dash. */
const shortenArrow = (dashes: string): string => (dashes.endsWith('>') ? '->' : dashes);

/** Writes one line per row: speaker and text. */
export function createTextWriter(options: WriterOptions): TranscriptWriter {
  return createRowWriter(options, { row: ({ text }, { name }) => `${toLine(`${name}: ${text}`)}\n` });
}

interface RowFormat {
  readonly head?: string;
  readonly tail?: string;
  /** Writes one row. `index` counts rows of the whole transcript, `position` counts written rows. */
  readonly row: (
    row: TranscriptRow,
    at: { readonly name: string; readonly index: number; readonly position: number },
  ) => string;
}

function createRowWriter(
  { nameOf, filterPersonId, firstIndex = 0 }: WriterOptions,
  { head = '', tail = '', row: writeRow }: RowFormat,
): TranscriptWriter {
  let [index, position] = [firstIndex, 0];
  return {
    start: () => head,
    write: (rows) => {
      let out = '';
      for (const row of rows) {
        const isVisible = filterPersonId === undefined || row.personId === filterPersonId;
        if (isVisible) out += writeRow(row, { name: nameOf(row.personId), index, position: position++ });
        index++;
      }
      return out;
    },
    finish: () => tail,
  };
}

/** Returns start and end of a cue in milliseconds. The start is not negative, and the duration is positive. */
function findCue({ startUs, endUs }: TranscriptRow, shiftMs: number): [number, number] {
  const from = Math.max(0, toMilliseconds(startUs) + shiftMs);
  return [from, Math.max(from + 1, toMilliseconds(endUs) + shiftMs)];
}

/** Formats a time as `00:00:01.500`. Hours have no limit. */
function formatTime(ms: number, point: '.' | ','): string {
  const pad = (value: number, length: number): string => String(value).padStart(length, '0');
  const minutes = Math.floor(ms / 60_000);
  return `${pad(Math.floor(minutes / 60), 2)}:${pad(minutes % 60, 2)}:${pad(Math.floor(ms / 1000) % 60, 2)}${point}${pad(ms % 1000, 3)}`;
}

/**
 * Replacements for SubRip. A word joiner, which has no width, prevents `<` from opening a tag. Braces become
 * full-width: some players hide text between braces and interpret backslashes in it.
 */
const visibleInSrt: Readonly<Record<string, string>> = { '<': '<\u2060', '{': '\uff5b', '}': '\uff5d' };

function showMarkup(text: string): string {
  return text.replaceAll(/[<{}]/g, (sign) => visibleInSrt[sign] ?? sign);
}

const references: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function escapeVtt(text: string): string {
  return text.replaceAll(/[&<>]/g, (sign) => references[sign] ?? sign);
}
