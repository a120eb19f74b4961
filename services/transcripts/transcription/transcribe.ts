/**
 * Converts parts of audio to rows. Each part is transcribed separately, its times are shifted to the time of the whole
 * audio, and the window filter classifies every row like a row of the provider. Only accepted rows are retained, in
 * memory only.
 */
import { readFile } from 'node:fs/promises';
import { PermanentJobError } from '#libs/infrastructure/jobs';
import type { TranscriptionSegment, Transcriber, Transcription } from '#libs/infrastructure/openai';
import type { Instant } from '#libs/infrastructure/time';
import { RowFilter, type AcceptedRow, type FilterCounts, type Window } from '../row-filter.ts';
import type { AudioPart, AudioRange } from './prepare.ts';

export interface TranscribeOptions {
  readonly window: Window;
  /** Instant at which the audio file starts. */
  readonly audioStart: Instant;
  /** Range of the audio file that the parts cover. */
  readonly range: AudioRange;
  readonly language: string;
  readonly vocabulary: string;
  readonly signal: AbortSignal;
  /** Called with the number of finished parts. */
  readonly onProgress: (parts: number) => void;
}

export interface TranscribedRows {
  readonly rows: readonly AcceptedRow[];
  readonly counts: FilterCounts;
}

/** Maximum length of the text. A longer text is not speech: a hundred hours of speech are a tenth of this. */
const maxCharacters = 64 * 1_048_576;
/** Models process windows of thirty seconds and may end the last segment at the end of a window. */
const modelWindowSeconds = 30;

/**
 * Transcribes the parts in order. @throws ModelFailure; PermanentJobError when the text is longer than speech can be
 */
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
      if (characters > maxCharacters)
        throw new PermanentJobError('the transcription has more text than anybody can say');
      rows.push(verdict.row);
    }
    options.onProgress(index + 1);
  }
  return { rows, counts: filter.finish() };
}

/**
 * Returns the rows of a part for the filter, in whole milliseconds from the start of the audio file. A transcription
 * without segments becomes one row.
 */
export function toRows({ segments, text }: Transcription, part: AudioPart, rangeStart: number): unknown[] {
  const length = part.end - part.start;
  const transcribed: readonly TranscriptionSegment[] = segments ?? [{ start: 0, end: length, text }];
  return transcribed.map((segment) => ({
    startTime: toMilliseconds(segment.start, length, (seconds) =>
      Math.ceil((rangeStart + part.start + seconds) * 1000 - 1e-6),
    ),
    endTime: toMilliseconds(segment.end, length, (seconds) =>
      Math.floor((rangeStart + part.start + seconds) * 1000 + 1e-6),
    ),
    sentence: typeof segment.text === 'string' ? segment.text.toWellFormed().trim() : segment.text,
    peerData: {},
  }));
}

/**
 * Returns whole milliseconds. Returns null when a segment is outside the part; the filter treats null as a missing
 * time. A segment that exceeds the part's end is cut there.
 */
function toMilliseconds(seconds: unknown, length: number, position: (seconds: number) => number): number | null {
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= length + modelWindowSeconds)) return null;
  return position(Math.min(seconds, length));
}
