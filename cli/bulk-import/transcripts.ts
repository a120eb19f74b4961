/** Imports transcript rows of many conversations in one call. */
import { transcripts } from '#services/transcripts';
import type { CliContext } from '../context.ts';
import type { CheckedItem } from './check-item.ts';

export interface TranscriptTarget {
  readonly id: number;
  readonly item: CheckedItem;
  /** Person id of the speaker of each row; 0 = not in the database yet. */
  readonly speakerIds: readonly (number | null)[];
}

export class TranscriptImport {
  readonly #context: CliContext;

  constructor(context: CliContext) {
    this.#context = context;
  }

  /** Writes the transcript rows that differ from the stored ones. @returns ids of changed conversations */
  async apply(targets: readonly TranscriptTarget[], dryRun: boolean): Promise<Set<number>> {
    const items = targets.flatMap(({ id, item, speakerIds }) => {
      if (item.transcript === undefined) return [];
      const rows = item.transcript.map(({ start_ms, end_ms, speaker, text }, index) => {
        const personId = speakerIds[index] ?? null;
        return {
          start_ms,
          end_ms,
          person_id: personId === 0 ? null : personId,
          speaker: personId === null ? speaker : null,
          text,
        };
      });
      return [{ conversation_id: id, rows }];
    });
    if (items.length === 0) return new Set();
    const reply = await this.#context.call(transcripts.rpcs.installLegacy, { items, dry_run: dryRun });
    return new Set(reply.items.filter(({ outcome }) => outcome === 'installed').map((item) => item.conversation_id));
  }
}
