/**
 * `node lab/load/seed.ts [FILE]`: prepares a platform for a load run and writes the input of the scripts in test/load
 * to FILE (default `.data/load/seed.json`). Connects like the admin CLI: through NATS_URL, or to the `npm start` of
 * this folder.
 */
import { join, resolve } from 'node:path';
import { seedPlatform } from './seed-platform.ts';

const file = resolve(process.argv[2] ?? join(import.meta.dirname, '..', '..', '.data', 'load', 'seed.json'));
try {
  const { prefix, people } = await seedPlatform(file, process.env);
  process.stdout.write(`Seeded ${people.length} people, a journey and an agent named ${prefix}: ${file}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
