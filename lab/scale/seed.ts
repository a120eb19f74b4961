/** Fills the migrated, empty database of a platform with conversations: what tests of query plans stand on too. */
import { fillDatabase } from './fill.ts';
import { conversationSeed, type SeedSizes } from './seed-sql.ts';

export function seedDatabase({ sizes, ...options }: { url: string; sizes: SeedSizes; say: (line: string) => void }): Promise<void> {
  return fillDatabase({ ...options, seed: conversationSeed(sizes) });
}
