/**
 * Prepares rows of a bulk import for storage: speakers, microseconds, digest. These rows are never filtered by a window
 * (D7).
 */
import { createHash } from 'node:crypto';
import { attributedId, type StoredSpeaker } from '../speaker.ts';
import type { LegacyRow } from './contract.ts';

export interface LegacyTranscript {
  readonly conversationId: number;
  readonly rows: readonly { startUs: string; endUs: string; position: number; personId: number; text: string }[];
  readonly speakers: readonly StoredSpeaker[];
  /** Digest of the requested rows. */
  readonly sha256: string;
}

/** Prepares the rows of one conversation. Speakers without a person are numbered by their first appearance (D24a). */
export function prepareLegacy(conversationId: number, requested: readonly LegacyRow[]): LegacyTranscript {
  const inOrder = requested
    .map((row, index) => ({ row, index }))
    .toSorted((left, right) => left.row.start_ms - right.row.start_ms || left.index - right.index);
  const speakers = new Map<string, StoredSpeaker>();
  let unresolved = 0;
  const rows = inOrder.map(({ row }, index) => {
    const key = row.person_id === null ? `import:${row.speaker ?? ''}` : `person:${row.person_id}`;
    let speaker = speakers.get(key);
    if (speaker === undefined) {
      const number = row.person_id === null ? ++unresolved : null;
      speaker = { key, number, personId: row.person_id, displayName: row.speaker, erased: false };
      speakers.set(key, speaker);
    }
    const position = index + 1;
    return {
      startUs: toMicroseconds(row.start_ms),
      endUs: toMicroseconds(row.end_ms),
      position,
      personId: attributedId(speaker),
      text: row.text,
    };
  });
  const digest = createHash('sha256');
  for (const { start_ms, end_ms, person_id, speaker, text } of requested) {
    digest.update(`${JSON.stringify([start_ms, end_ms, person_id, speaker, text])}\n`);
  }
  return { conversationId, rows, speakers: [...speakers.values()], sha256: digest.digest('hex') };
}

function toMicroseconds(ms: number): string {
  return String(Math.round(ms * 1000));
}
