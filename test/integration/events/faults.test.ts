/** The feed while everything that it stands on is killed: nothing is left out, doubled, or out of order, and no gap appears behind a reader (V2). */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FaultWorld, startFaultWorld } from '../../../lab/feed/fault-world.ts';
import { runFaults } from '../../../lab/feed/faults.ts';

const dataDir = join(import.meta.dirname, '..', '..', '..', '.data', 'test-runs', `feed-${process.pid}`);
let world: FaultWorld;
beforeAll(async () => {
  mkdirSync(join(dataDir, '..'), { recursive: true });
  world = await startFaultWorld(dataDir);
}, 240_000);
afterAll(() => world.stop());

describe('the feed under faults (V2)', () => {
  // `npm run bench:feed -- faults` does the same with 100,000 changes.
  it('equals what committed, in order, for who follows it and for who reads it afterwards, while every process, NATS and PostgreSQL are killed', async () => {
    const table = await runFaults(world, { changes: 1_600, writers: 8, rounds: 1, say: () => {} });
    expect(table).toEqual({ changes: expect.any(Number), kills: world.names.length, lost: 0, doubled: 0, outOfOrder: 0, gaps: 0 });
    expect(table.changes).toBeGreaterThanOrEqual(1_600);
    expect(world.names).toHaveLength(8);
  }, 400_000);
});
