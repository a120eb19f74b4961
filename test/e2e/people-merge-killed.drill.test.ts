/**
 * The service that executes a merge of two people is killed (rules/people#merge-people; I3): the merge completes, and
 * nothing is duplicated.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitForLockWait } from '#libs/product/testing';
import { isRelease } from '../drill.ts';
import { holdLocks } from '../hold-locks.ts';
import { findPersonReferences } from './person-references.ts';
import { type Answer, type Applied, eventually, startTestPlatform, type TestPlatform } from './test-platform.ts';

/** The cases: the service that is killed, and the service that waits for the rows that the test locks. */
const allCases = [
  {
    what: 'the directory, before its part commits',
    killed: 'directory',
    waiting: 'directory',
    rows: 'directory.people where id = $1',
  },
  {
    what: 'the directory, after its part and before any other',
    killed: 'directory',
    waiting: 'conversations',
    rows: 'conversations.all_conversations where participant_ids @> array[$1::integer]',
  },
  {
    what: 'conversations',
    killed: 'conversations',
    waiting: 'conversations',
    rows: 'conversations.all_conversations where participant_ids @> array[$1::integer]',
  },
  {
    what: 'transcripts',
    killed: 'transcripts',
    waiting: 'transcripts',
    rows: 'transcripts.transcript_rows where person_id = $1',
  },
  { what: 'media', killed: 'media', waiting: 'media', rows: 'media.blobs where created_by_person_id = $1' },
  {
    what: 'events',
    killed: 'events',
    waiting: 'events',
    rows: `events.subjects where type = 'conversation' and people @> array[$1::integer]`,
  },
] as const;
/** The smoke form runs only the first case: the merge is killed at its start. */
const cases = isRelease ? allCases : allCases.slice(0, 1);
const pairs = cases.map((_case, index) => ({ gone: `gone-${index}`, stays: `stays-${index}` }));
const everybody = pairs.flatMap(({ gone, stays }) => [gone, stays]);

let platform: TestPlatform;
let ids: Applied['ids'];
let root: string;
const idOf = (key: string): number => ids['people']?.[key] ?? 0;

beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    {},
    { services: ['api-gateway', 'directory', 'conversations', 'transcripts', 'media', 'events'], processes: true },
  );
  ({ ids } = await platform.apply({
    classes: [{ slug: 'event', conversation_event: true, journeys: ['joining', 'open-circle'] }],
    journeys: [
      { slug: 'open-circle', name: 'Open circle', is_conversation: true, steps: [{ slug: 'held', title: 'Held' }] },
      { slug: 'joining', name: 'Joining', steps: [{ slug: 'asked', title: 'Asked' }] },
    ],
    holons: [{ slug: 'spring', name: 'Spring', class: 'event', journeys: ['open-circle', 'joining'] }],
    people: [...everybody, 'root'].map((key) => ({ key, name: key })),
    accounts: [...everybody, 'root'].map((key) => ({
      email: `${key}@example.org`,
      person: key,
      password: `secret-of-${key}`,
      groups: ['coherence_users'],
      superuser: key === 'root',
    })),
    memberships: everybody.map((person) => ({ person, holon: 'spring', journey: 'joining', step: 'asked' })),
  }));
  await platform.apply({
    conversations: pairs.flatMap(({ gone, stays }) =>
      [[gone], [gone, stays]].map((participants, index) => ({
        key: `${gone}-${index}`,
        journey: 'open-circle',
        step: 'held',
        event: 'spring',
        start: '2026-05-01T10:00:00Z',
        participants,
        transcript: [{ start_ms: 0, end_ms: 900, person: gone, text: `A heron came to ${gone}.` }],
      })),
    ),
  });
  root = await platform.login('root@example.org', 'secret-of-root');
  for (const { gone } of pairs) {
    const form = new FormData();
    form.append('audio', new Blob(['sound']), 'talk.mp3');
    const token = await platform.login(`${gone}@example.org`, `secret-of-${gone}`);
    const path = `/api/coherence/conversations/${await conversationId(`${gone}-0`)}/audio`;
    expect((await platform.call('POST', path, { token, body: form })).status).toBe(201);
    const [membership] = await platform.sql<{ id: number }>(
      'select id from directory.memberships where person_id = $1',
      [idOf(gone)],
    );
    const note = await platform.call('POST', `/api/v1/memberships/${membership?.id}/update`, {
      token: root,
      json: { note: `Of ${gone}.` },
    });
    expect(note.status).toBe(200);
  }
});
/**
 * Merge requests without a response: a client of a killed process waits until the deadline or until the gateway is
 * available again.
 */
const unanswered: Promise<unknown>[] = [];
afterAll(async () => {
  platform.runtime.processes.get('api-gateway')?.kill('SIGKILL');
  await platform.stop();
  await Promise.all(unanswered);
});

const conversationId = async (key: string): Promise<number> =>
  (
    await platform.sql<{ id: number }>('select conversation_id as id from conversations.import_keys where key = $1', [
      key,
    ])
  )[0]?.id ?? 0;

/**
 * Kills the process once `waiting` waits for the rows of the person, which the test has locked. Then restarts the
 * process.
 */
async function killWhileWaiting({ killed, waiting }: (typeof cases)[number], person: number): Promise<void> {
  await waitForLockWait(platform.sql, waiting);
  const item = platform.runtime.processes.get(killed);
  item?.kill('SIGKILL');
  expect(await item?.ended).toBe('was ended by SIGKILL');
  expect(await findPersonReferences(platform, person)).not.toEqual([]);
  await platform.runtime.restart(killed);
}

/** Counts rows that a repeated or lost step would change. */
async function count(person: number): Promise<Record<string, number>> {
  const counted = {
    memberships: 'select from directory.memberships where person_id = $1',
    notes: 'select from directory.person_notes where person_id = $1',
    accounts: 'select from directory.accounts where person_id = $1',
    conversations: 'select from conversations.all_conversations where participant_ids @> array[$1::integer]',
    said: 'select from transcripts.transcript_rows where person_id = $1',
    found: 'select from transcripts.search_segments where person_id = $1',
    uploads: 'select from media.blobs where created_by_person_id = $1',
    told: `select from events.subjects where type = 'conversation' and people @> array[$1::integer]`,
  };
  const found: Record<string, number> = {};
  for (const [what, rows] of Object.entries(counted))
    found[what] = Number(
      (await platform.sql<{ count: string }>(`select count(*) from (${rows}) as counted`, [person]))[0]?.count,
    );
  return found;
}

describe('kill -9 during a merge of people (I3)', () => {
  it.each(cases.map((item, index) => ({ ...item, index })))(
    'of $what: completes the merge in every service after the restart, without duplicates',
    async ({ index, ...item }) => {
      const [gone, stays] = [idOf(pairs[index]?.gone ?? ''), idOf(pairs[index]?.stays ?? '')];
      const whole = { memberships: 1, notes: 1, accounts: 2, conversations: 2, said: 2, found: 2, uploads: 1, told: 2 };
      await eventually(async () => expect(await count(gone)).toEqual({ ...whole, accounts: 1 }));
      const key = randomUUID();
      const merge = (): Promise<Answer> =>
        platform.call('POST', `/api/v1/people/${gone}/merge`, {
          token: root,
          json: { into: stays },
          headers: { 'idempotency-key': key },
        });
      const letGo = await holdLocks(platform, `select 1 from ${item.rows} for update`, [gone]);
      // The client receives no response and retries with the same key.
      unanswered.push(merge().catch(() => undefined));
      await killWhileWaiting(item, gone);
      await letGo();
      await eventually(async () => expect((await merge()).status).toBe(200), 120_000);
      await eventually(
        async () => expect([await findPersonReferences(platform, gone), await count(stays)]).toEqual([[], whole]),
        120_000,
      );
    },
  );

  it('publishes and records each merge once after the restart', async () => {
    const wanted = pairs.map(({ gone, stays }) => ({ gone: String(idOf(gone)), into: String(idOf(stays)) }));
    const told = `select subject_id::text as gone, data ->> 'into' as into from events.feed where type = 'person.merged' order by subject_id`;
    await eventually(async () => expect(await platform.sql(told)).toEqual(wanted));
    const audited = await platform.sql(
      `select target_id as gone, changes ->> 'into' as into from directory.audit_log where action = 'person.merge' order by target_id::int`,
    );
    expect(audited).toEqual(wanted);
  });
});
