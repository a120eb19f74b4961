/** The event feed: order, visibility, cursors and waiting (rules/events#feed; V1 to V4, V9, V10). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor, ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { superuser, startService, waitFor } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { events } from '#services/events';
import { Cursors } from '../../../services/events/feed/rules/cursor.ts';
import { startConversationFixture, type ConversationFixture } from '../conversations/fixture.ts';
import { fillFeed } from './filler.ts';

type Page = ReplyOf<typeof events.rpcs.readFeed>;
type User = Extract<Actor, { kind: 'user' }>;

const { readFeed, pruneFeed } = events.rpcs;
let fixture: ConversationFixture;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url, { CONVERSATION_ACCESS: 'members' });
  await startService('events', fixture.env);
});
afterAll(() => fixture.stop());

const user = (personId: number | null): User => ({
  kind: 'user',
  accountId: 2_000_000,
  personId,
  superuser: false,
  globalEditor: false,
  coherenceAccess: false,
});
const read = (request: RequestOf<typeof readFeed> = {}, actor: Actor = superuser): Promise<Page> =>
  fixture.call(readFeed, request, actor);
const latest = async (): Promise<string> => (await read({ after: 'latest' })).next;
const refusal = (request: RequestOf<typeof readFeed>, actor?: Actor): Promise<unknown> =>
  read(request, actor).catch((error: unknown) => error);
const typesOf = ({ items }: Page): string[] => items.map(({ type }) => type);

/** Waits until `count` events about a conversation exist after the cursor, and returns the page. */
async function told(after: string, id: number, count: number, actor: Actor = superuser): Promise<Page> {
  let page: Page | undefined;
  await waitFor(
    async () => {
      page = await read({ after, subject_type: 'conversation', subject_id: id }, actor);
      return page.items.length >= count;
    },
    { what: `${count} events of conversation ${id}` },
  );
  return page as Page;
}

describe('events.feed.read (rules/events#feed)', () => {
  it('returns the events of a conversation in feed order (rules/events#types; V1, V2, V9)', async () => {
    const after = await latest();
    const { id } = await fixture.create();
    await fixture.patch(id, { infos: { theme: 'spring' } });
    await fixture.writeRoom(id, { phase: 'conversation', version: 1 });
    await fixture.recorded(id);
    const page = await told(after, id, 6);
    expect(page.items.map(({ type, data }) => [type, data])).toEqual([
      [
        'conversation.created',
        {
          journey_id: fixture.ids['journeys']?.['open-circle'],
          journey: 'open-circle',
          event_id: fixture.ids['holons']?.['spring'],
        },
      ],
      ['conversation.step_entered', expect.objectContaining({ journey: 'open-circle', step: 'held' })],
      ['conversation.updated', {}],
      ['conversation.room_updated', {}],
      ['conversation.recorded', {}],
      ['conversation.step_entered', expect.objectContaining({ journey: 'open-circle' })],
    ]);
    for (const item of page.items) {
      expect(item).toMatchObject({
        id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
        subject: { type: 'conversation', id },
      });
      expect(Math.abs(Date.parse(item.occurred_at) - Date.now())).toBeLessThan(60_000);
    }
    expect(new Set(page.items.map((item) => item.id)).size).toBe(page.items.length);
  });

  it('emits no event for a request that changes nothing (V9)', async () => {
    const begin = await latest();
    const { id } = await fixture.create();
    await fixture.patch(id, { infos: { a: 1 } });
    const { next: after } = await told(begin, id, 3);
    await fixture.patch(id, { infos: { a: 1 } });
    await fixture.call(conversations.rpcs.patchInfos, { conversation_id: id, infos: { a: 1 } });
    await fixture.writeRoom(id, { phase: 'conversation', version: 1 });
    await fixture.writeRoom(id, { phase: 'conversation', version: 1 });
    await fixture.call(conversations.rpcs.patchInfos, { conversation_id: id, infos: { a: 2 } });
    expect(typesOf(await told(after, id, 2))).toEqual(['conversation.room_updated', 'conversation.updated']);
  });

  it('returns pages of the feed by cursor (V3)', async () => {
    const begin = await latest();
    const { id } = await fixture.create();
    for (let n = 0; n < 4; n++) await fixture.patch(id, { infos: { n } });
    const whole = await told(begin, id, 6);
    const pages: Page[] = [];
    for (let after = begin; pages.at(-1)?.has_more !== false; after = pages.at(-1)?.next ?? '')
      pages.push(await read({ after, limit: 4, subject_type: 'conversation', subject_id: id }));
    expect(pages.map(({ items }) => items.length)).toEqual([4, 2]);
    expect(pages.flatMap(({ items }) => items)).toEqual(whole.items);
    const end = pages.at(-1)?.next ?? '';
    expect(await read({ after: end, subject_type: 'conversation', subject_id: id })).toEqual({
      items: [],
      next: end,
      has_more: false,
    });
    expect((await read({ limit: 1 })).items).toHaveLength(1);
  });

  it('filters the feed by type, type pattern and subject (V3)', async () => {
    const after = await latest();
    const { id } = await fixture.create();
    await fixture.patch(id, { infos: { n: 1 } });
    await told(after, id, 3);
    expect(typesOf(await read({ after, types: 'conversation.updated' }))).toEqual(['conversation.updated']);
    expect(typesOf(await read({ after, types: 'conversation.created, conversation.updated' }))).toEqual([
      'conversation.created',
      'conversation.updated',
    ]);
    expect((await read({ after, types: 'conversation.*' })).items.length).toBe(3);
    expect((await read({ after, types: 'question.*' })).items).toEqual([]);
    expect((await read({ after, subject_type: 'person' })).items).toEqual([]);
    for (const request of [
      { types: 'conversation.eaten' },
      { types: '' },
      { types: 'nothing.*' },
      { types: '*' },
      { subject_id: id },
    ])
      expect(await refusal(request)).toMatchObject({ code: 'bad_request' });
  });

  it('rejects invalid feed cursors (V3)', async () => {
    const good = (await read({ limit: 1 })).next;
    const broken = (good.startsWith('A') ? 'B' : 'A') + good.slice(1);
    for (const after of ['', 'x', '0', good.slice(1), `${good}A`, broken, 'A'.repeat(22), 'LATEST'])
      expect(await refusal({ after })).toMatchObject({ code: 'bad_request' });
  });

  it('returns a waiting request as soon as a readable event exists (V3, V10)', async () => {
    const ada = user(fixture.personId('ada'));
    const other = await fixture.create('open-circle', 'ben');
    const mine = await fixture.create('open-circle', 'ada');
    await told(await read({ limit: 1 }).then(({ next }) => next), mine.id, 1);
    const { next: after } = await read({ after: 'latest' }, ada);
    const startedMs = performance.now();
    const waiting = read({ after, wait: 20 }, ada);
    await fixture.patch(other.id, { infos: { n: 1 } });
    await told(after, other.id, 1);
    await fixture.patch(mine.id, { infos: { n: 1 } });
    const page = await waiting;
    expect(page.items.map(({ subject }) => subject.id)).toEqual([mine.id]);
    expect(performance.now() - startedMs).toBeLessThan(15_000);
  });

  it('answers `latest` immediately despite `wait`, with a cursor that does not reveal the number of events (V10)', async () => {
    const startedMs = performance.now();
    const [first, second] = [await read({ after: 'latest', wait: 30 }), await read({ after: 'latest', wait: 30 })];
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    expect([first.items, first.has_more]).toEqual([[], false]);
    expect(first.next).not.toBe(second.next);
  });

  it('returns the requested cursor when a wait ends without events (V10)', async () => {
    const after = await latest();
    const { id } = await fixture.create('open-circle', 'ben');
    const page = await read({ after, wait: 1 }, user(fixture.personId('ada')));
    expect(page).toEqual({ items: [], next: after, has_more: false });
    await told(after, id, 1);
  });
});

describe('visibility of events (V4, V10)', () => {
  it('an event is visible only to callers with current access to its subject', async () => {
    const after = await latest();
    const { id } = await fixture.create('open-circle', 'ada');
    await told(after, id, 2);
    const of = async (actor: Actor): Promise<number> =>
      (await read({ after, subject_type: 'conversation', subject_id: id }, actor)).items.length;
    expect(await of(user(fixture.personId('ada')))).toBe(2);
    expect(await of({ ...user(null), coherenceAccess: true })).toBe(2);
    for (const actor of [user(fixture.personId('ben')), user(null), { ...user(null), globalEditor: true }])
      expect(await of(actor)).toBe(0);
    // No event was published for this change: the feed queries the owning service for each page.
    await fixture.env.sql('update conversations.conversations set participant_ids = $1 where id = $2', [
      [fixture.personId('ben')],
      id,
    ]);
    expect(await of(user(fixture.personId('ada')))).toBe(0);
  });

  it('shows the deletion of a conversation to its former readers, and hides its earlier events from them', async () => {
    const after = await latest();
    const { id } = await fixture.create('open-circle', 'ada');
    await fixture.call(conversations.rpcs.deleteConversation, { conversation_id: id });
    await told(after, id, 3);
    const seen = async (actor: Actor): Promise<string[]> =>
      typesOf(await read({ after, subject_type: 'conversation', subject_id: id }, actor));
    expect(await seen(user(fixture.personId('ada')))).toEqual(['conversation.deleted']);
    expect(await seen(user(fixture.personId('ben')))).toEqual([]);
    expect(await seen(superuser)).toEqual([
      'conversation.created',
      'conversation.step_entered',
      'conversation.deleted',
    ]);
    await fixture.call(conversations.rpcs.restoreConversation, { conversation_id: id });
    await told(after, id, 4);
    expect((await seen(user(fixture.personId('ada')))).at(-1)).toBe('conversation.updated');
  });

  it('shows events before and after a merge to the surviving person (I3)', async () => {
    const gone = user(fixture.personId('cleo'));
    const stays = user(fixture.personId('ada'));
    const after = await latest();
    const { id } = await fixture.create('open-circle', 'cleo');
    await told(after, id, 2, gone);
    await fixture.call(conversations.rpcs.mergePerson, {
      gone_id: gone.personId ?? 0,
      into_id: stays.personId ?? 0,
      after: 0,
    });
    const { next } = await told(after, id, 3, stays);
    expect(await read({ after, subject_type: 'conversation', subject_id: id }, gone)).toEqual({
      items: [],
      next: after,
      has_more: false,
    });
    await fixture.writeRoom(id, { phase: 'conversation', version: 1 });
    expect(typesOf(await told(next, id, 1, stays))).toEqual(['conversation.room_updated']);
    const { items } = await read({ after }, stays);
    expect(typesOf({ items } as Page)).toEqual([
      'conversation.created',
      'conversation.step_entered',
      'conversation.updated',
      'conversation.room_updated',
    ]);
  });

  it('shows the surviving person a deletion that preceded the merge (I3)', async () => {
    const gone = user(fixture.personId('cleo'));
    const stays = user(fixture.personId('ada'));
    const after = await latest();
    const { id } = await fixture.create('open-circle', 'cleo');
    await fixture.call(conversations.rpcs.deleteConversation, { conversation_id: id });
    await told(after, id, 3);
    const seen = async (actor: Actor): Promise<string[]> =>
      typesOf(await read({ after, subject_type: 'conversation', subject_id: id }, actor));
    expect([await seen(gone), await seen(stays)]).toEqual([['conversation.deleted'], []]);
    const merge = { gone_id: gone.personId ?? 0, into_id: stays.personId ?? 0, after: 0 };
    for (let times = 0; times < 2; times++) {
      expect(await fixture.call(events.rpcs.mergePerson, merge)).toEqual({ next: null });
      expect([await seen(gone), await seen(stays)]).toEqual([[], ['conversation.deleted']]);
    }
    expect(await seen(user(fixture.personId('ben')))).toEqual([]);
  });

  it('finds readable events among many hidden ones, and returns the same cursor if there are none', async () => {
    const ada = user(fixture.personId('ada'));
    const begin = (await read({ after: 'latest' }, ada)).next;
    const first = await fixture.create('open-circle', 'ada');
    const mine = await told(begin, first.id, 2);
    await fillFeed(fixture.env, 30_000, { first: 1_000_000, subjects: 5_000, person: 4_711 });
    const { next, has_more: more } = await read({ after: begin, limit: 500 }, ada);
    expect([next, more]).toEqual([mine.next, false]);
    await fixture.patch(first.id, { infos: { n: 1 } });
    await told(mine.next, first.id, 1);
    const page = await read({ after: begin, limit: 500 }, ada);
    expect(page.items.map(({ subject }) => subject.id)).toEqual([first.id, first.id, first.id]);
    expect((await read({ after: next, limit: 500, types: 'conversation.updated' }, ada)).items).toHaveLength(1);
  });
});

describe('pages of callers who can read few subjects (V3, V4)', () => {
  it('pages contain every event once and in order when events are distributed unevenly', async () => {
    const ada = user(fixture.personId('ada'));
    const begin = await latest();
    const ids: number[] = [];
    for (let count = 0; count < 4; count++) ids.push((await fixture.create('open-circle', 'ada')).id);
    for (const id of ids) await told(begin, id, 2);
    await fillFeed(fixture.env, 30_000, { first: 5_000_000, subjects: 5_000, person: 4_711 });
    await fixture.env.sql(
      `with head as (update events.feed_head set last_position = last_position + 900 returning last_position),
       told as (
         insert into events.feed (position, occurred_at, service, number, id, type, subject_type, subject_id, data, farewell)
         select last_position - 900 + n, now(), 'much', n, gen_random_uuid(), 'conversation.updated', 'conversation',
           ($1::integer[])[case when n % 50 = 0 then 2 + n / 50 % 3 else 1 end], '{}', false from head, generate_series(1, 900) n
       )
       update events.subjects set last_position = (select last_position from head) where type = 'conversation' and id = any($1)`,
      [ids],
    );
    const pages: Page[] = [];
    for (let after = begin; pages.at(-1)?.has_more !== false; after = pages.at(-1)?.next ?? '') {
      pages.push(await read({ after, limit: 100 }, ada));
      expect(pages.length).toBeLessThan(30);
    }
    const rows = await fixture.env.sql<{ id: string }>(
      `select 'evt_' || replace(id::text, '-', '') as id from events.feed where subject_type = 'conversation' and subject_id = any($1) order by position`,
      [ids],
    );
    expect(rows.length).toBeGreaterThanOrEqual(908);
    expect(pages.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(rows.map(({ id }) => id));
    expect(pages.filter(({ items }) => items.length === 100).length).toBeGreaterThanOrEqual(8);
  });
});

describe('pages of callers with many readable subjects but few readable events (V4)', () => {
  it('ends a page after a limited scan, and continues there with the next page', async () => {
    const ada = user(fixture.personId('ada'));
    const { next: begin } = await read({ after: 'latest' }, ada);
    await fillFeed(fixture.env, 200_000, { first: 2_000_000, subjects: 5_000, person: 4_711 });
    // According to the feed Ada participates in these; their owner does not know them and denies access.
    await fillFeed(fixture.env, 2_500, { first: 3_000_000, subjects: 2_500, person: fixture.personId('ada') });
    const { id } = await fixture.create('open-circle', 'ada');
    await told(begin, id, 2);
    const pages: Page[] = [];
    for (let after = begin; pages.at(-1)?.has_more !== false; after = pages.at(-1)?.next ?? '') {
      pages.push(await read({ after, limit: 500 }, ada));
      expect(pages.length).toBeLessThan(10);
    }
    expect(pages[0]).toMatchObject({ items: [], has_more: true });
    expect(new Set([begin, ...pages.map(({ next }) => next)]).size).toBe(pages.length + 1);
    expect(pages.flatMap(({ items }) => items.map(({ subject }) => subject.id))).toEqual([id, id]);
    // One waiting request suffices to reach the event.
    expect((await read({ after: begin, limit: 500, wait: 30 }, ada)).items).toHaveLength(2);
  });
});

describe('cursors of idle readers (V3)', () => {
  const hoursAgo = 13;
  const aged = async (text: string): Promise<string> => {
    const [row] = await fixture.env.sql<{ key: string }>('select cursor_key as key from events.feed_head');
    const cursors = new Cursors(row?.key ?? '');
    return cursors.writeCurrent(cursors.read(text) ?? 0, Date.now() - hoursAgo * 3_600_000);
  };

  it.each(['event cursor', 'current cursor'])('replaces an old cursor with a current one: %s', async (kind) => {
    const ada = user(fixture.personId('ada'));
    const begin = (await read({ after: 'latest' }, ada)).next;
    const { id } = await fixture.create('open-circle', 'ada');
    const { next } = await told(begin, id, 2, ada);
    expect((await read({ after: next }, ada)).next).toBe(next);
    await fixture.env.sql(
      `update events.feed set occurred_at = occurred_at - make_interval(hours => $1) where subject_id = $2`,
      [hoursAgo, id],
    );
    const old = kind === 'of now' ? await aged(next) : next;
    const page = await read({ after: old }, ada);
    expect([page.items, page.has_more, page.next === old]).toEqual([[], false, false]);
    expect(await read({ after: page.next }, ada)).toEqual(page);
    // Events of other people are skipped, and later visible events are returned.
    const other = await fixture.create('open-circle', 'ben');
    await told(begin, other.id, 2);
    const { next: late } = await read({ after: await aged(page.next) }, ada);
    await fixture.env.sql('update events.feed_head set floor_position = last_position');
    expect(await refusal({ after: old }, ada)).toMatchObject({ reason: 'cursor_expired' });
    await fixture.patch(id, { infos: { late: kind } });
    expect(typesOf(await told(late, id, 1, ada))).toEqual(['conversation.updated']);
  });
});

describe('retention of the feed (V3, V10)', () => {
  it('returns 410 for a cursor before the oldest stored event', async () => {
    const { next: old } = await read({ limit: 1 });
    const { id } = await fixture.create();
    await told(old, id, 2);
    const before = new Date(Date.now() + 1_000).toISOString();
    const { removed } = await fixture.call(pruneFeed, { before });
    expect(removed).toBeGreaterThan(0);
    expect(await refusal({ after: old })).toMatchObject({ code: 'gone', reason: 'cursor_expired' });
    expect((await read({})).items).toEqual([]);
    const now = await read({});
    await fixture.create();
    await waitFor(async () => (await read({ after: now.next })).items.length > 0, { what: 'what happened since' });
  });
});
