/**
 * Parts of audio to rows: each part is transcribed by itself, its times move to those of the whole, and the window's filter judges every row as
 * it judges those of the provider. Only accepted rows are kept, in memory alone.
 */
import { readFile } from 'node:fs/promises';
import { PermanentJobError } from '#libs/jobs';
import type { TranscriptionSegment, Transcriber, Transcription } from '#libs/openai';
import type { Instant } from '#libs/time';
import { RowFilter, type AcceptedRow, type FilterCounts, type Window } from '../row-filter.ts';
import type { AudioPart, AudioRange } from './prepare.ts';

export interface TranscribeOptions {
  readonly window: Window;
  /** When the audio file begins. */
  readonly audioStart: Instant;
  /** What of the audio file the parts are. */
  readonly range: AudioRange;
  readonly language: string;
  readonly vocabulary: string;
  readonly signal: AbortSignal;
  /** Called with the number of parts that are done. */
  readonly onProgress: (parts: number) => void;
}

export interface TranscribedRows {
  readonly rows: readonly AcceptedRow[];
  readonly counts: FilterCounts;
}

/** More is no speech: a hundred hours of it are a tenth. */
const maxCharacters = 64 * 1_048_576;
/** Models hear windows of thirty seconds, and may end the last segment at the end of one. */
const modelWindowSeconds = 30;

/** @throws ModelFailure; PermanentJobError when there is more text than anybody can say */
export async function transcribeParts(
  transcriber: Transcriber,
  parts: readonly AudioPart[],
  options: TranscribeOptions,
): Promise<TranscribedRows> {
  const filter = new RowFilter({ window: options.window, sessionStart: options.audioStart });
  const rows: AcceptedRow[] = [];
  let characters = 0;
  for (const [index, part] of parts.entries()) {
    const file = { bytes: await readFile(part.file), name: `part-${index + 1}.ogg`, contentType: 'audio/ogg' };
    const transcribed = { ...file, language: options.language, prompt: options.vocabulary };
    const transcription = await transcriber.transcribe(transcribed, options.signal);
    for (const row of toRows(transcription, part, options.range.start)) {
      const verdict = filter.classify(row);
      if (verdict.kind !== 'accepted') continue;
      characters += verdict.row.sentence.length;
      if (characters > maxCharacters) throw new PermanentJobError('the transcription has more text than anybody can say');
      rows.push(verdict.row);
    }
    options.onProgress(index + 1);
  }
  return { rows, counts: filter.finish() };
}

/** Rows as the filter reads them: whole milliseconds from the beginning of the audio file. Without segments the part is one row. */
export function toRows({ segments, text }: Transcription, part: AudioPart, rangeStart: number): unknown[] {
  const length = part.end - part.start;
  const transcribed: readonly TranscriptionSegment[] = segments ?? [{ start: 0, end: length, text }];
  return transcribed.map((segment) => ({
    startTime: toMilliseconds(segment.start, length, (seconds) => Math.ceil((rangeStart + part.start + seconds) * 1000 - 1e-6)),
    endTime: toMilliseconds(segment.end, length, (seconds) => Math.floor((rangeStart + part.start + seconds) * 1000 + 1e-6)),
    sentence: typeof segment.text === 'string' ? segment.text.toWellFormed().trim() : segment.text,
    peerData: {},
  }));
}

/** Null, which the filter takes for no time at all, when a segment lies where the part is not. What reaches over its end ends there. */
function toMilliseconds(seconds: unknown, length: number, position: (seconds: number) => number): number | null {
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= length + modelWindowSeconds)) return null;
  return position(Math.min(seconds, length));
}
