/** Visibility of conversations (D69): every caller in both modes, and the effect on find-or-create. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { conversations } from '#services/conversations';
import { startConversationFixture, type ConversationFixture } from './fixture.ts';

const { rpcs } = conversations;
type User = Extract<Actor, { kind: 'user' }>;

let members: ConversationFixture;
let open: ConversationFixture;
beforeAll(async () => {
  [open, members] = await Promise.all([
    startConversationFixture(`${import.meta.url}?open`),
    startConversationFixture(`${import.meta.url}?members`, { CONVERSATION_ACCESS: 'members' }),
  ]);
});
afterAll(() => Promise.all([open.stop(), members.stop()]));

const user = (rights: Partial<User>): User => ({
  kind: 'user',
  accountId: 2_000_000,
  personId: null,
  superuser: false,
  globalEditor: false,
  coherenceAccess: false,
  ...rights,
});
const statusOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

/** Creates an account with team authority, active or inactive, over a holon. Returns it as a caller. */
async function lead(fixture: ConversationFixture, holon: string, active: boolean): Promise<User> {
  const key = `lead-${holon}-${String(active)}`;
  await fixture.apply({
    people: [{ key, name: key, contact: {} }],
    accounts: [
      { email: `${key}@example.org`, person: key, password: 'a-long-enough-password', teams: [{ holon, active }] },
    ],
  });
  const [row] = await fixture.env.sql<{ id: number }>('select id from directory.accounts where email = $1', [
    `${key}@example.org`,
  ]);
  return user({ accountId: row?.id ?? 0 });
}

describe('access to one conversation (D69)', () => {
  it.each([
    ['a participant', 'ok', (fixture: ConversationFixture) => user({ personId: fixture.personId('ada') })],
    ['another person', 'not_found', (fixture: ConversationFixture) => user({ personId: fixture.personId('ben') })],
    ['an account without a person', 'not_found', () => user({})],
    ['a global editor', 'not_found', () => user({ globalEditor: true })],
    ['coherence access', 'ok', () => user({ coherenceAccess: true })],
    ['a superuser', 'ok', () => user({ superuser: true, globalEditor: true, coherenceAccess: true })],
    ['the shared token', 'ok', (): Actor => ({ kind: 'shared' })],
    ['team authority over the event', 'ok', (fixture: ConversationFixture) => lead(fixture, 'spring', true)],
    ['team authority that is over', 'not_found', (fixture: ConversationFixture) => lead(fixture, 'spring', false)],
    [
      'team authority over a holon above the event',
      'ok',
      (fixture: ConversationFixture) => lead(fixture, 'host-org', true),
    ],
    [
      'team authority over a linked holon alone',
      'not_found',
      (fixture: ConversationFixture) => lead(fixture, 'autumn', true),
    ],
  ] as const)(
    'of %s is %s while conversations are for members, and is granted while they are open',
    async (_who, expected, make) => {
      for (const fixture of [members, open]) {
        const { id } = await fixture.create();
        await fixture.call(rpcs.updateConversation, { conversation_id: id, connected_slugs: ['autumn'] });
        const actor = await make(fixture);
        const statuses = await Promise.all([
          statusOf(fixture.call(rpcs.get, { conversation_id: id }, actor)),
          statusOf(fixture.call(rpcs.patch, { conversation_id: id, infos: { probe: 1 } }, actor)),
          statusOf(fixture.call(rpcs.exists, { id }, actor)),
          statusOf(fixture.call(rpcs.describe, { id }, actor)),
        ]);
        expect(new Set(statuses)).toEqual(new Set([fixture === members ? expected : 'ok']));
      }
    },
  );
});

describe('find-or-create while conversations are for members (D69)', () => {
  const find = (personId: number, time: string, actor: Actor) =>
    members.call(rpcs.findActive, { person_id: personId, journey: 'open-circle', time }, actor);

  it("returns another person's conversations only if the caller participates in them", async () => {
    const [ada, ben] = [members.personId('ada'), members.personId('ben')];
    await members.env.sql('update conversations.all_conversations set finish_at = start_at where finish_at is null');
    const insert = (participants: number[]) =>
      members.env.sql<{ id: number }>(
        `insert into conversations.conversations (journey_id, start_at, participant_ids)
         values ($1, '2029-06-01T10:00:00Z', $2::integer[]) returning id`,
        [members.ids['journeys']?.['open-circle'], participants],
      );
    const [shared] = await insert([ada, ben]);
    await insert([ada]);
    const seen = await find(ada, '2029-06-01T11:00:00Z', user({ personId: ben }));
    expect(seen.map((item) => item.id)).toEqual([shared?.id]);
    expect(await find(ada, '2029-06-01T11:00:00Z', user({ personId: ada }))).toHaveLength(2);
  });

  it('streams all matches that the caller can read, for any number of matches', async () => {
    const [ada, ben] = [members.personId('ada'), members.personId('ben')];
    await members.env.sql(
      `insert into conversations.conversations (journey_id, start_at, finish_at, participant_ids)
       select $1, '2027-06-01T10:00:00Z', '2027-06-01T12:00:00Z', case when g % 2 = 0 then array[$2::integer, $3] else array[$2::integer] end
       from generate_series(1, 200) g`,
      [members.ids['journeys']?.['open-circle'], ada, ben],
    );
    expect(await find(ada, '2027-06-01T11:00:00Z', user({ personId: ben }))).toHaveLength(100);
    expect(await find(ada, '2027-06-01T11:00:00Z', user({ personId: ada }))).toHaveLength(200);
  });

  it("rejects creating a conversation for another person without authority over the journey's event", async () => {
    const [ada, ben] = [members.personId('ada'), members.personId('ben')];
    const time = '2020-01-01T00:00:00Z';
    expect(await statusOf(find(ada, time, user({ personId: ben })))).toBe('not_found');
    const [made] = await find(ada, time, await lead(members, 'spring', true));
    expect(made?.participants.map((person) => person.id)).toEqual([ada]);
    // Only its participant finds the conversation.
    expect(await statusOf(find(ada, time, user({ personId: ben })))).toBe('not_found');
    expect((await find(ada, time, user({ personId: ada }))).map((item) => item.id)).toEqual([made?.id]);
  });

  it('creates one conversation for concurrent calls with authority over the event', async () => {
    const leader = await lead(members, 'spring', true);
    const asked = Array.from({ length: 10 }, () => find(members.personId('ben'), '2019-01-01T00:00:00Z', leader));
    const ids = (await Promise.all(asked)).map((items) => items.map((item) => item.id));
    expect(ids).toEqual(ids.map(() => [expect.any(Number)]));
    expect(new Set(ids.flat()).size).toBe(1);
  });
});
