import { setImmediate as turnEnd } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database, sqlStateOf } from '#libs/infrastructure/orm';
import { sql, statement, t } from '#libs/infrastructure/sql';
import { createTestEnvironment, type TestEnvironment, waitFor } from '#libs/product/testing';

/** `xact` shows which calls shared a transaction. */
const append = statement.coalesced({
  name: 'gathered.append',
  params: { id: t.integer, addedText: t.text, divisor: t.integer.nullable },
  key: 'id',
  row: { id: t.integer, text: t.text, xact: t.text },
  sql: (calls) => sql`
    update public.lines l set text = l.text || i.added_text || coalesce(1 / i.divisor, 0)
    from ${calls} where l.id = i.id returning i.ordinal, l.id, l.text, pg_current_xact_id()::text as xact`,
});
const appendSlowly = statement.coalesced({
  name: 'gathered.append-slowly',
  params: { id: t.integer },
  key: 'id',
  row: { slept: t.text },
  sql: (calls) => sql`
    update public.lines l set text = l.text || '!' from ${calls} where l.id = i.id returning i.ordinal, pg_sleep(30)::text as slept`,
});
const lockLine = statement.none({
  name: 'gathered.lock',
  params: { id: t.integer },
  sql: ({ id }) => sql`select id from public.lines where id = ${id} for update`,
});
const cutOthers = statement.many({
  name: 'gathered.cut-others',
  params: { name: t.text },
  row: { cut: t.boolean },
  sql: ({ name }) =>
    sql`select pg_terminate_backend(pid) as cut from pg_stat_activity where application_name = ${name} and wait_event = 'PgSleep'`,
});

describe('concurrent single-row writes of one statement (architecture#data)', () => {
  let env: TestEnvironment;
  let db: Database;
  let other: Database;
  const count = (length: number): number[] => Array.from({ length }, (_, index) => index);
  const write = (id: number, addedText = 'x', divisor?: number) =>
    append(db, { id, addedText, divisor: divisor ?? null });
  const readTexts = async (): Promise<string[]> =>
    (await env.sql('select text from public.lines order by id')).map(({ text }) => text as string);

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    const options = { url: env.settings['DATABASE_URL'] ?? '', schema: 'public', logger: env.logger };
    db = await createDatabase({ ...options, poolSize: 5, applicationName: 'gathered test' });
    other = await createDatabase({ ...options, poolSize: 2, applicationName: 'gathered other' });
    await env.sql('create table public.lines (id integer primary key, text text not null)');
  });
  beforeEach(async () => {
    await env.sql('truncate public.lines');
    await env.sql("insert into public.lines select n, '' from generate_series(0, 99) n");
  });
  afterAll(async () => {
    await Promise.all([db.close(), other.close()]);
    await env.stop();
  });

  it('combines concurrent writes into one transaction, and returns to each call its row', async () => {
    const ids = [7, 3, 99, 0];
    const rows = await Promise.all(ids.map((id) => write(id, `line ${id}, "quoted" \\ {`)));
    expect(rows.map((row) => [row?.id, row?.text])).toEqual(ids.map((id) => [id, `line ${id}, "quoted" \\ {0`]));
    expect(new Set(rows.map((row) => row?.xact)).size).toBe(1);
    expect(db.stats()).toMatchObject({ total: 1, idle: 1, waiting: 0 });
  });

  it('returns undefined to a write whose row does not exist', async () => {
    const rows = await Promise.all([write(1), write(1_000), write(2)]);
    expect(rows.map((row) => row?.id)).toEqual([1, undefined, 2]);
    expect(await write(1_000)).toBeUndefined();
  });

  it('combines up to 32 writes, in at most two concurrent transactions', async () => {
    const rows = await Promise.all(count(100).map((id) => write(id)));
    expect(rows.map((row) => row?.id)).toEqual(count(100));
    const sizes = [...Map.groupBy(rows, (row) => row?.xact).values()].map((group) => group.length);
    expect(sizes.toSorted((a, b) => b - a)).toEqual([32, 32, 32, 4]);
    expect(db.stats().total).toBeLessThanOrEqual(2);
  });

  it('applies several writes of one row in sequence, and writes other rows meanwhile', async () => {
    const rows = await Promise.all([write(5, 'a'), write(5, 'b'), write(6, 'c'), write(5, 'd')]);
    expect(rows.map((row) => row?.text.length)).toEqual(expect.arrayContaining([2, 4, 6]));
    expect(rows[0]?.xact).toBe(rows[2]?.xact);
    expect((await readTexts()).slice(4, 8)).toEqual(['', expect.stringMatching(/^([abd]0){3}$/), 'c0', '']);
  });

  it('does not combine writes with large texts', async () => {
    const rows = await Promise.all(count(3).map((id) => write(id, 'y'.repeat(150_000))));
    expect(new Set(rows.map((row) => row?.xact)).size).toBe(3);
  });

  it('a failed write does not affect the writes combined with it, which are applied once', async () => {
    const results = await Promise.allSettled([write(1), write(2, 'x', 0), write(3)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(sqlStateOf((results[1] as PromiseRejectedResult).reason)).toBe('22012');
    expect((await readTexts()).slice(0, 4)).toEqual(['', 'x0', '', 'x0']);
    expect(db.stats()).toMatchObject({ waiting: 0, idle: db.stats().total });
  });

  it('a write that waits for a row lock delays no write of other rows', async () => {
    await other
      .transaction(async (tx) => {
        await lockLine(tx, { id: 50 });
        const blocked = write(50, 'last');
        await Promise.all([write(49), write(51)]);
        await Promise.all([write(48), write(52)]);
        expect((await readTexts()).slice(48, 53)).toEqual(['x0', 'x0', '', 'x0', 'x0']);
        return { blocked };
      })
      .then(({ blocked }) => blocked);
    expect((await readTexts())[50]).toBe('last0');
  });

  it('runs a write within a transaction in that transaction, not combined with others', async () => {
    const failed = db.transaction(async (tx) => {
      expect((await append(tx, { id: 8, addedText: 'gone', divisor: null }))?.text).toBe('gone0');
      throw new Error('never mind');
    });
    await expect(failed).rejects.toThrow('never mind');
    expect((await readTexts())[8]).toBe('');
  });

  it('does not repeat combined writes when their connection is cut, because they may have taken effect', async () => {
    const writes = Promise.allSettled(count(3).map((id) => appendSlowly(db, { id })));
    await waitFor(async () => (await cutOthers(other, { name: 'gathered test' })).length > 0, {
      what: 'writes under way',
    });
    const results = await writes;
    expect(results.map((result) => (result as PromiseRejectedResult).reason)).toEqual(
      count(3).map(() => expect.objectContaining({ code: 'unavailable' })),
    );
    expect((await readTexts()).slice(0, 3)).toEqual(['', '', '']);
    await turnEnd();
    expect((await write(0))?.text).toBe('x0');
  });
});
