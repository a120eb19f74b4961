/** Erasure of people while a merge has not reached every service (people erase; rules/people#merge-people; I3). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitForLockWait } from '#libs/product/testing';
import { holdLocks } from '../hold-locks.ts';
import { findPersonReferences } from './person-references.ts';
import { readZip } from './read-zip.ts';
import { type Applied, eventually, startTestPlatform, type TestPlatform } from './test-platform.ts';

const telegramUsers: Record<'uri' | 'ida', string> = { uri: '7007', ida: '8008' };
const contact = (key: string) => ({ email: `${key}@example.org` });
const onTelegram = (key: 'uri' | 'ida') => ({ ...contact(key), telegram_user_id: telegramUsers[key] });

let platform: TestPlatform;
let ids: Applied['ids'];
let root: string;
const idOf = (key: string): number => ids['people']?.[key] ?? 0;

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { processes: ['conversations'] });
  const keys = ['eda', 'ada', 'ben', 'ivo', 'noa'];
  ({ ids } = await platform.apply({
    classes: [{ slug: 'event', conversation_event: true }],
    journeys: [
      { slug: 'open-circle', name: 'Open circle', is_conversation: true, steps: [{ slug: 'held', title: 'Held' }] },
    ],
    people: [
      ...keys.map((key) => ({ key, name: `${key} Quillfeather`, contact: contact(key) })),
      ...(['uri', 'ida'] as const).map((key) => ({ key, name: `${key} Quillfeather`, contact: onTelegram(key) })),
    ],
    holons: [{ slug: 'spring', name: 'Spring', class: 'event', journeys: ['open-circle'] }],
    accounts: [
      { email: 'root@example.org', person: 'ben', password: 'secret-of-root', superuser: true },
      { email: 'uri.login@example.org', person: 'uri' },
    ],
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
  await platform.apply({
    conversations: [
      conversation('alone', ['eda']),
      conversation('both', ['eda', 'ada']),
      conversation('shared', ['eda', 'ben']),
      conversation('late', ['ivo', 'ben']),
    ],
  });
  root = await platform.login('root@example.org', 'secret-of-root');
});
afterAll(() => platform.stop());

const left = () =>
  platform.sql(
    `select k.key, c.participant_ids from conversations.import_keys k join conversations.all_conversations c on c.id = k.conversation_id where k.key <> 'late' order by key`,
  );

/** Returns the messages in the archive of a person. */
async function exported(who: string): Promise<{ body: string; thread_key: string | null }[]> {
  const folder = await mkdtemp(join(tmpdir(), 'merged-'));
  const file = join(folder, 'person.zip');
  await platform.ask('people', 'export', who, '--out', file);
  const entries = await readZip(file);
  await rm(folder, { recursive: true });
  return entries['agents.json'];
}

describe('admin CLI: people erase', () => {
  it('removes remaining references to people merged into the erased person, and a later merge does not restore them', async () => {
    const headers = { 'idempotency-key': 'made-once' };
    const json = { name: 'Uma Quillfeather', contact: contact('uma') };
    const made = await platform.call('POST', '/api/v1/people', { token: root, json, headers });
    await platform.ask('people', 'merge', 'ada', String(made.json.person.id), '--yes');

    await platform.runtime.processes.get('conversations')?.stop();
    await platform.ask('people', 'merge', 'ada', 'eda', '--yes');
    const job = `type = 'directory.finish-merge' and payload ->> 'gone_id' = $1`;
    await platform.sql(`update directory.jobs set run_at = now() + interval '1 hour' where ${job}`, [
      String(idOf('eda')),
    ]);
    await platform.runtime.restart('conversations');
    expect(await findPersonReferences(platform, idOf('eda'))).toContain(
      'conversations.all_conversations|participant_ids',
    );

    await platform.ask('people', 'erase', 'ada', '--yes');
    const expected = [{ key: 'shared', participant_ids: [idOf('ben')] }];
    expect(await left()).toEqual(expected);
    // Of the replies that are stored for repeated requests, the erasure's own remains.
    expect(await platform.sql('select operation from directory.kept_answers')).toEqual([
      { operation: 'directory.people.erase' },
    ]);
    await platform.sql(`update directory.jobs set run_at = now() where ${job}`, [String(idOf('eda'))]);
    await eventually(async () => {
      expect(await platform.sql(`select state from directory.jobs where ${job}`, [String(idOf('eda'))])).toEqual([
        { state: 'succeeded' },
      ]);
    }, 30_000);
    expect(await left()).toEqual(expected);
    // The feed stores the readers of deleted objects, and erasures their people, as ids that no longer resolve (docs/guides/privacy.md).
    const allowed = ['directory.person_erasures|person_id', 'events.subjects|people'];
    for (const key of ['eda', 'ada'])
      await eventually(async () =>
        expect(allowed).toEqual(expect.arrayContaining(await findPersonReferences(platform, idOf(key)))),
      );
    for (const text of ['heron of eda', 'Uma', ...['eda', 'ada', 'uma'].map((key) => contact(key).email)])
      expect([text, await platform.findInDatabase(text)]).toEqual([text, []]);
  });

  it('reports a merge of the person during the erasure, and does not erase the surviving person', async () => {
    const rows = 'select 1 from conversations.all_conversations where participant_ids @> array[$1::integer] for update';
    const letGo = await holdLocks(platform, rows, [idOf('ivo')]);
    const erasing = platform.ask('people', 'erase', 'ivo', '--yes').catch((error: unknown) => error);
    await waitForLockWait(platform.sql, 'conversations');
    const merging = platform.ask('people', 'merge', 'noa', 'ivo', '--yes');
    await eventually(async () => {
      expect(
        await platform.sql('select into_id from directory.merged_people where gone_id = $1', [idOf('ivo')]),
      ).toHaveLength(1);
    });
    expect(await letGo()).toBe('stopped');
    expect(await merging).toMatchObject({ outcome: 'merged' });
    expect(String(await erasing)).toContain(
      `Person ${idOf('ivo')} was merged into person ${idOf('noa')} meanwhile. Erase that person instead.`,
    );
  });

  it('erases chats of people merged into the person, and finds the person by their former email and key', async () => {
    const chats = {
      [telegramUsers.uri]: 'Herons of Uri.',
      [telegramUsers.ida]: 'Herons of Ida.',
      47: 'Somebody else.',
    };
    await platform.sql(`insert into agents.agents (slug, name) values ('guide', 'Guide')`);
    for (const [user, text] of Object.entries(chats)) {
      await platform.sql(
        `with thread as (insert into agents.threads (agent_id, thread_key, channel)
           select id, 'telegram:chat:' || $1 || ':agent:' || id, 'telegram' from agents.agents returning id)
         insert into agents.messages (thread_id, turn, note_type, body, html, created_at) select id, 1, 'chat_visitor', $2, '', now() from thread`,
        [user, text],
      );
    }
    await platform.sql(
      `insert into agents.messages (thread_id, turn, note_type, body, html, created_at, account_id)
       select m.thread_id, 2, 'chat_operator', 'I am Uri.', '', now(), (select id from directory.accounts where email = 'uri.login@example.org')
       from agents.messages m where m.body = 'Somebody else.'`,
    );
    await platform.ask('people', 'merge', 'uri', 'ida', '--yes');
    expect((await exported('ida@example.org')).map(({ body, thread_key }) => [body, thread_key])).toEqual([
      ['Herons of Uri.', expect.stringContaining(`:${telegramUsers.uri}:`)],
      ['Herons of Ida.', expect.stringContaining(`:${telegramUsers.ida}:`)],
      ['I am Uri.', null],
    ]);
    expect(await platform.ask('people', 'erase', 'ida', '--yes')).toMatchObject({
      person_id: idOf('uri'),
      counts: { agents: { messages: 2 } },
    });
    expect(await platform.sql('select body from agents.messages order by id')).toEqual([
      { body: 'Somebody else.' },
      { body: 'I am Uri.' },
    ]);
  });

  it('takes little time for any length or number of emails', async () => {
    const emails = Array.from({ length: 30 }, (_, index) => `zed-${index}@example.org`);
    const { ids: made } = await platform.apply({
      people: [{ key: 'zed', name: 'Zed Quillfeather', contact: { email: `${'a'.repeat(400)}@example.org` } }],
      accounts: emails.map((email) => ({ email, person: 'zed' })),
    });
    await platform.sql(
      `insert into conversations.webhook_receipts (dedupe_key, delivery_id, received_at, person_id, headers, body, outcome)
       values ('many', 'many', now(), '0', '{}', convert_to($1, 'UTF8'), 'applied')`,
      [JSON.stringify({ attendees: [{ email: emails.toSorted().at(-1) }] })],
    );
    expect(await platform.ask('people', 'erase', 'zed', '--yes')).toMatchObject({
      person_id: made['people']?.['zed'],
      counts: { directory: { people: 1 } },
    });
    expect(await platform.sql(`select body from conversations.webhook_receipts where dedupe_key = 'many'`)).toEqual([
      { body: null },
    ]);
  });
});
