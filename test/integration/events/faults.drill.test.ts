/**
 * The feed while processes that it depends on are killed: no event is lost, duplicated or reordered, and readers never
 * miss an event that appears later at an earlier position (V2). The full form kills every process, NATS and PostgreSQL;
 * the smoke form kills the database and the feed writer.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FaultEnvironment, startFaultEnvironment } from '../../../lab/bench/feed-environment.ts';
import { runFaults } from '../../../lab/bench/feed-faults.ts';
import { sized } from '../../drill.ts';

const dataDir = join(import.meta.dirname, '..', '..', '..', '.data', 'test-runs', `feed-${process.pid}`);
const { changes, writers, replicas, killed } = sized({
  smoke: { changes: 60, writers: 4, replicas: 1, killed: ['PostgreSQL', 'events'] },
  release: {
    changes: 1_600,
    writers: 8,
    replicas: 2,
    killed: [
      'PostgreSQL',
      'NATS',
      'directory',
      'directory#2',
      'conversations',
      'conversations#2',
      'events',
      'events#2',
    ],
  },
});
let environment: FaultEnvironment;
beforeAll(async () => {
  mkdirSync(join(dataDir, '..'), { recursive: true });
  environment = await startFaultEnvironment(dataDir, {}, replicas);
}, 240_000);
afterAll(() => environment.stop());

describe('the feed under faults (V2)', () => {
  // `npm run bench:feed -- faults` does the same with 100,000 changes.
  it('delivers all committed changes in order to a following and a later reader while processes are killed', async () => {
    expect(environment.names).toEqual(expect.arrayContaining(killed));
    const table = await runFaults(environment, { changes, writers, rounds: 1, names: killed, log: () => {} });
    expect(table).toEqual({
      changes: expect.any(Number),
      kills: killed.length,
      lost: 0,
      doubled: 0,
      outOfOrder: 0,
      gaps: 0,
    });
    expect(table.changes).toBeGreaterThanOrEqual(changes);
  }, 400_000);
});
