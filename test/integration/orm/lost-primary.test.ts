/**
 * Unplanned loss of a primary with a synchronous standby: acknowledged writes exist after the promotion, and the
 * process continues (rules/operations#promises).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { type PostgresPair, runStatements, startPostgresPair, waitFor } from '#libs/product/testing';

const writers = 4;
let dir: string;
let pair: PostgresPair;
let db: Database;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'coherence-lost-primary-'));
  pair = await startPostgresPair({ dir, synchronous: true });
  await runStatements(
    pair.primary.url,
    'create schema library',
    'create table library.books (id int primary key, writer int)',
  );
  const logger = createLogger({ service: 'test', level: 'fatal' });
  db = await createDatabase({ url: pair.url, schema: 'library', poolSize: writers, logger, applicationName: 'test' });
});
afterAll(async () => {
  await db.close();
  await pair.stop();
  rmSync(dir, { recursive: true, force: true });
});

const add = (id: number, writer: number): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.query({ name: 'add', text: 'insert into books values ($1, $2)' }, [id, writer]);
  });

describe('a database that loses its primary', () => {
  it('keeps every acknowledged write exactly once, and accepts new writes on the standby without a restart', async () => {
    const acknowledged: number[] = [];
    /** Writes that failed; each may or may not have taken effect. */
    const refused: number[] = [];
    const state = { goesOn: true };
    const writing = Array.from({ length: writers }, async (_, writer) => {
      for (let id = writer; state.goesOn; id += writers) {
        await add(id, writer).then(
          () => acknowledged.push(id),
          (error: { code?: string }) => {
            refused.push(id);
            expect(error.code).toBe('unavailable');
          },
        );
      }
    });
    await waitFor(() => acknowledged.length > 100, { what: 'writes' });

    // The standby does not receive the last writes, so the primary must not acknowledge them.
    const [receiver] = await runStatements(pair.standby.url, 'select pid from pg_stat_wal_receiver');
    process.kill(Number(receiver?.['pid']), 'SIGSTOP');
    const waiting = `select 1 from pg_stat_activity where wait_event = 'SyncRep'`;
    await waitFor(async () => (await runStatements(pair.primary.url, waiting)).length === writers, {
      what: 'every writer to wait for the standby',
    });
    const before = acknowledged.length;
    await pair.losePrimary();
    expect(acknowledged.length).toBe(before);
    process.kill(Number(receiver?.['pid']), 'SIGCONT');
    const lostAt = performance.now();
    await pair.promote();
    await waitFor(() => acknowledged.length > before + 100, { what: 'writes on the new primary' });
    const awayMs = performance.now() - lostAt;
    state.goesOn = false;
    await Promise.all(writing);

    const rows = await runStatements(pair.primary.url, 'select id from library.books');
    const there = new Set(rows.map(({ id }) => Number(id)));
    expect(there.size).toBe(rows.length);
    expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
    // Rows that are neither acknowledged nor failed must not exist.
    const told = new Set([...acknowledged, ...refused]);
    expect([...there].filter((id) => !told.has(id))).toEqual([]);
    expect(refused.length).toBeGreaterThan(0);
    expect(awayMs).toBeLessThan(30_000);
  });
});
