/** Fills the migrated, empty database of a platform with conversations, or with what was said in them: what tests of query plans stand on too. */
import { fillDatabase } from './fill.ts';
import { conversationSeed, type SeedSizes } from './seed-sql.ts';
import { type SpokenSizes, spokenSeed } from './spoken-sql.ts';

export function seedDatabase({ sizes, ...options }: { url: string; sizes: SeedSizes; say: (line: string) => void }): Promise<void> {
  return fillDatabase({ ...options, seed: conversationSeed(sizes) });
}

export function seedSpoken({ sizes, ...options }: { url: string; sizes: SpokenSizes; say: (line: string) => void }): Promise<void> {
  return fillDatabase({ ...options, seed: spokenSeed(sizes) });
}
