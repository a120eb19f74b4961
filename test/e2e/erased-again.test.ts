/**
 * An erased person is erased again in a restored database of any earlier time, whatever merges happened
 * (rules/operations#after-a-restore).
 */
import type { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { loadConfig, s3Settings } from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';
import { createObjectStore, storeConfigOf } from '#libs/infrastructure/object-store';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

/** Database rows by table at one time. */
type Moment = ReadonlyMap<string, string>;

const tables = ['directory.people', 'directory.merged_people', 'directory.person_aliases', 'directory.erasures'];
const keys = ['a', 'b', 'c', 'd'];

let platform: TestPlatform;
let ids: Record<string, number>;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {});
});
afterAll(() => platform.stop());

/**
 * Number of the test. Each person was created a day before the previous one, so that a merge into the previous person
 * changes the previous person's creation date.
 */
let round = 0;
beforeEach(async () => {
  round += 1;
  const { ids: given } = await platform.apply({
    people: keys.map((key) => ({ key: `${key}-${round}`, name: `Quillfeather ${key}` })),
  });
  ids = Object.fromEntries(keys.map((key) => [key, given['people']?.[`${key}-${round}`] ?? 0]));
  for (const [days, key] of keys.entries())
    await platform.sql(
      'update directory.people set created_at = created_at - make_interval(days => $1) where id = $2',
      [days, ids[key]],
    );
});

const merge = (keep: string, gone: string) =>
  platform.ask('people', 'merge', String(ids[keep]), String(ids[gone]), '--yes');
const erase = (key: string) => platform.ask('people', 'erase', String(ids[key]), '--yes');

/** Returns the data that a backup taken now would contain. */
async function remember(): Promise<Moment> {
  const rows = new Map<string, string>();
  for (const table of tables) {
    const [all] = await platform.sql<{ rows: string }>(
      `select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as rows from ${table} t`,
    );
    rows.set(table, all?.rows ?? '[]');
  }
  return rows;
}

async function putBack(moment: Moment | undefined): Promise<void> {
  for (const table of tables.toReversed()) await platform.sql(`delete from ${table}`);
  for (const table of tables) {
    const [found] = await platform.sql<{ names: string }>(
      `select string_agg(quote_ident(attname), ', ') as names from pg_attribute
       where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
      [table],
    );
    await platform.sql(
      `insert into ${table} (${found?.names}) overriding system value
       select ${found?.names} from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
      [moment?.get(table)],
    );
  }
}

const keysOf = (wanted: readonly number[]): string[] => keys.filter((key) => wanted.includes(ids[key] ?? 0));
const left = async (): Promise<string[]> =>
  keysOf((await platform.sql<{ id: number }>('select id from directory.people')).map(({ id }) => id));

/** Returns the people that `doctor --after-restore` erases. */
async function examine(): Promise<string[]> {
  const { people } = await platform.ask('doctor', '--after-restore');
  expect(people).toMatchObject({ damaged: [], others: 0 });
  return keysOf(people.erased);
}

/** Returns the erasure records of the people of this test. */
async function readEntries(): Promise<Record<string, unknown>[]> {
  const store = createObjectStore(storeConfigOf(loadConfig(Type.Object(s3Settings), platform.runtime.settings)));
  const entries: Record<string, unknown>[] = [];
  for await (const { key } of store.list('platform/erasures/')) {
    const entry = JSON.parse(await readText((await store.get(key))?.body as Readable)) as Record<string, unknown>;
    if (keysOf([Number(entry['person_id'])]).length > 0) entries.push(entry);
  }
  store.close();
  return entries;
}

describe('doctor --after-restore', () => {
  it('erases each erased person and all people merged into them again, in a database restored to any moment between the merges', async () => {
    const moments = [await remember()];
    await merge('b', 'c');
    moments.push(await remember());
    await merge('a', 'b');
    moments.push(await remember());
    await erase('a');
    for (const [index, expected] of [['a', 'b', 'c'], ['a', 'b'], ['a']].entries()) {
      await putBack(moments[index]);
      expect(await left()).toEqual([...expected, 'd']);
      expect(await examine()).toEqual(expected);
      expect([await left(), await examine()]).toEqual([['d'], []]);
    }
  });

  it('records erased people only by ids and digests, with which a repeated erasure finds them', async () => {
    const before = await remember();
    await merge('a', 'b');
    await erase('a');
    const first = await readEntries();
    const [digest, none] = [expect.stringMatching(/^[0-9a-f]{64}$/), { visitor_ids: [], telegram_user_ids: [] }];
    const countOf = (key: string): number => first.filter(({ person_id: id }) => id === ids[key]).length;
    expect(keys.map(countOf)).toEqual([2, 1, 0, 0]);
    expect(first).toEqual(first.map(({ person_id: id }) => ({ person_id: id, digest, ...none })));
    await erase('a');
    expect((await readEntries()).filter((entry) => entry['digest'] !== null)).toEqual(first);
    await putBack(before);
    expect([await examine(), await left()]).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('erases the surviving person when an erased person is merged between the restore and the repeated erasure', async () => {
    const before = await remember();
    await erase('a');
    await erase('b');
    await putBack(before);
    await merge('a', 'd'); // now has the creation date of a
    await merge('c', 'b');
    expect(await examine()).toEqual(['a', 'c']);
    expect(await left()).toEqual([]);
  });

  it('does not change merged people who were not erased', async () => {
    const before = await remember();
    await merge('a', 'b');
    await erase('c');
    await putBack(before);
    await merge('a', 'b');
    expect(await examine()).toEqual(['c']);
    expect(await left()).toEqual(['a', 'd']);
  });

  it('erases merged people of a release without digests if their ids are known', async () => {
    await merge('a', 'b');
    await platform.sql(`update directory.merged_people set were = default where gone_id = $1`, [ids['b']]);
    const merged = await remember();
    await erase('a');
    expect(await readEntries()).toHaveLength(1);
    await putBack(merged);
    expect([await examine(), await left()]).toEqual([['a'], ['c', 'd']]);
  });

  it('erases the chats of a forgotten visitor again, and counts no person for them', async () => {
    await platform.sql(`insert into agents.agents (slug, name) values ('guide', 'Guide')`);
    const write = (visitor: string) =>
      platform.sql(
        `insert into agents.threads (agent_id, thread_key, channel, visitor_id)
         select id, 'web:visitor:' || $1 || ':agent:' || id, 'web', $1 from agents.agents`,
        [visitor],
      );
    const visitors = async () =>
      (await platform.sql<{ id: string }>('select visitor_id as id from agents.threads')).map(({ id }) => id);
    for (const visitor of ['heron', 'stork']) await write(visitor);
    await platform.ask('agents', 'forget', '--visitor', 'heron', '--yes');
    expect(await visitors()).toEqual(['stork']);
    await write('heron');
    const before = (await platform.ask('doctor', '--after-restore')).people;
    expect(await visitors()).toEqual(['stork']);
    await platform.ask('agents', 'forget', '--visitor', 'stork', '--yes');
    await write('stork');
    expect((await platform.ask('doctor', '--after-restore')).people).toEqual(before);
    expect(await visitors()).toEqual([]);
  });
});
