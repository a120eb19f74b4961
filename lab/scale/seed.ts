/** Fills the migrated, empty database of a platform with conversations or transcripts, also for query plan tests. */
import { fillDatabase } from './fill.ts';
import { conversationSeed, type SeedSizes } from './seed-sql.ts';
import { type TranscriptSizes, transcriptSeed } from './transcript-sql.ts';

export function seedDatabase({
  sizes,
  ...options
}: {
  url: string;
  sizes: SeedSizes;
  log: (line: string) => void;
}): Promise<void> {
  return fillDatabase({ ...options, seed: conversationSeed(sizes) });
}

export function seedTranscripts({
  sizes,
  ...options
}: {
  url: string;
  sizes: TranscriptSizes;
  log: (line: string) => void;
}): Promise<void> {
  return fillDatabase({ ...options, seed: transcriptSeed(sizes) });
}
