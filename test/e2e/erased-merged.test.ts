/** People who are erased while a merge has not come to every service (people erase; rules/people#merge-people; I3). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitForLockWait } from '#libs/testing';
import { holdLocks } from '../hold-locks.ts';
import { findPersonReferences } from './person-references.ts';
import { type Applied, eventually, startWorld, type World } from './world.ts';

const contact = (key: string) => ({ email: `${key}@example.org` });

let world: World;
let ids: Applied['ids'];
let root: string;
const idOf = (key: string): number => ids['people']?.[key] ?? 0;

beforeAll(async () => {
  world = await startWorld(import.meta.url, {}, { processes: ['conversations'] });
  const keys = ['eda', 'ada', 'ben', 'ivo', 'noa'];
  ({ ids } = await world.apply({
    classes: [{ slug: 'event', conversation_event: true }],
    journeys: [{ slug: 'open-circle', name: 'Open circle', is_conversation: true, steps: [{ slug: 'held', title: 'Held' }] }],
    people: keys.map((key) => ({ key, name: `${key} Quillfeather`, contact: contact(key) })),
    holons: [{ slug: 'spring', name: 'Spring', class: 'event', journeys: ['open-circle'] }],
    accounts: [{ email: 'root@example.org', person: 'ben', password: 'secret-of-root', superuser: true }],
  }));
  const conversation = (key: string, participants: string[]) => ({
    key,
    journey: 'open-circle',
    step: 'held',
    event: 'spring',
    start: '2026-05-01T10:00:00Z',
    participants,
    transcript: [{ start_ms: 0, end_ms: 900, person: participants[0], text: `A heron of ${participants[0]}.` }],
  });
  await world.apply({
    conversations: [
      conversation('alone', ['eda']),
      conversation('both', ['eda', 'ada']),
      conversation('shared', ['eda', 'ben']),
      conversation('late', ['ivo', 'ben']),
    ],
  });
  root = await world.login('root@example.org', 'secret-of-root');
});
afterAll(() => world.stop());

const left = () =>
  world.sql(
    `select k.key, c.participant_ids from conversations.import_keys k join conversations.all_conversations c on c.id = k.conversation_id where k.key <> 'late' order by key`,
  );

describe('people erase', () => {
  it('removes what still names who was merged into the person, and the merge that comes later brings nothing back', async () => {
    const headers = { 'idempotency-key': 'made-once' };
    const json = { name: 'Uma Quillfeather', contact: contact('uma') };
    const made = await world.call('POST', '/api/v1/people', { token: root, json, headers });
    await world.ask('people', 'merge', 'ada', String(made.json.person.id), '--yes');

    await world.platform.processes.get('conversations')?.stop();
    await world.ask('people', 'merge', 'ada', 'eda', '--yes');
    const job = `type = 'directory.finish-merge' and payload ->> 'gone_id' = $1`;
    await world.sql(`update directory.jobs set run_at = now() + interval '1 hour' where ${job}`, [String(idOf('eda'))]);
    await world.platform.restart('conversations');
    expect(await findPersonReferences(world, idOf('eda'))).toContain('conversations.all_conversations|participant_ids');

    await world.ask('people', 'erase', 'ada', '--yes');
    const expected = [{ key: 'shared', participant_ids: [idOf('ben')] }];
    expect(await left()).toEqual(expected);
    expect(await world.sql('select key from directory.kept_answers')).toEqual([]);
    await world.sql(`update directory.jobs set run_at = now() where ${job}`, [String(idOf('eda'))]);
    await eventually(async () => {
      expect(await world.sql(`select state from directory.jobs where ${job}`, [String(idOf('eda'))])).toEqual([{ state: 'succeeded' }]);
    }, 30_000);
    expect(await left()).toEqual(expected);
    // The feed keeps who could read what is deleted, by ids that name nobody any more (docs/guides/privacy.md).
    const allowed = ['events.subjects|people'];
    for (const key of ['eda', 'ada'])
      await eventually(async () => expect(allowed).toEqual(expect.arrayContaining(await findPersonReferences(world, idOf(key)))));
    for (const text of ['heron of eda', 'Uma', ...['eda', 'ada', 'uma'].map((key) => contact(key).email)])
      expect([text, await world.findInDatabase(text)]).toEqual([text, []]);
  });

  it('says so when the person becomes somebody else meanwhile, and lives on as that', async () => {
    const rows = 'select 1 from conversations.all_conversations where participant_ids @> array[$1::integer] for update';
    const letGo = await holdLocks(world, rows, [idOf('ivo')]);
    const erasing = world.ask('people', 'erase', 'ivo', '--yes').catch((error: unknown) => error);
    await waitForLockWait(world.sql, 'conversations');
    const merging = world.ask('people', 'merge', 'noa', 'ivo', '--yes');
    await eventually(async () => {
      expect(await world.sql('select into_id from directory.merged_people where gone_id = $1', [idOf('ivo')])).toHaveLength(1);
    });
    expect(await letGo()).toBe('stopped');
    expect(await merging).toMatchObject({ outcome: 'merged' });
    expect(String(await erasing)).toContain(`Person ${idOf('ivo')} was merged into person ${idOf('noa')} meanwhile: erase that one.`);
  });
});
