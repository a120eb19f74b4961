import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readPlatformFacts } from '../../tools/generate/chart.ts';
import { readServiceSettings } from '../../tools/servers/service-settings.ts';
import { listDatabaseComponents } from './components.ts';
import { countConnections, countWhileRolling, renderConnections, sessions } from './connections.ts';

const direct = { components: ['directory', 'media'], ofProcess: 10 };
const pooled = { ...direct, ofRole: 25 };

describe('connections at PostgreSQL (rules/operations#a-pooler)', () => {
  it('grow with pods without a pooler, and with the pods that a rolling update adds', () => {
    expect(countConnections(3, direct)).toEqual({ server: 2 * 30 + sessions, client: 0 });
    expect(countWhileRolling(3, direct)).toEqual({ server: 2 * 40 + sessions, client: 0 });
  });

  it('grow behind one until each role has its share, and not any more', () => {
    expect(countConnections(2, pooled)).toEqual({ server: 2 * 20 + sessions, client: 40 });
    expect(countConnections(3, pooled)).toEqual({ server: 2 * 25 + sessions, client: 60 });
    expect(countConnections(50, pooled)).toEqual({ server: 2 * 25 + sessions, client: 1_000 });
  });

  it('stand in docs/scaling.md as the command prints them, with the pools of this release', async () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'scaling.md'), 'utf8');
    const components = listDatabaseComponents(await readPlatformFacts());
    const sizes = (await readServiceSettings()).map(({ properties }) => properties['DATABASE_POOL_SIZE']?.default);
    const [ofProcess] = new Set(sizes.filter((size) => size !== undefined));
    expect(components).toHaveLength(6);
    expect(page).toContain(renderConnections([1, 2, 3, 5, 10, 20, 50], { components, ofProcess: Number(ofProcess), ofRole: 20 }));
  });
});
