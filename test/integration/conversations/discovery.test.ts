import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import type { Actor } from '#libs/infrastructure/contract';
import { contextFor } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { startConversationFixture, type ConversationFixture } from './fixture.ts';

let fixture: ConversationFixture;
let journeyIds: Record<string, number>;
let eventId: number;
const { rpcs } = conversations;
const user: Actor = {
  kind: 'user',
  accountId: 1,
  personId: null,
  superuser: false,
  globalEditor: false,
  coherenceAccess: false,
};

beforeAll(async () => {
  // A long interval, so that statements of periodic work are not counted with the statements of a request.
  fixture = await startConversationFixture(import.meta.url, {}, { dueIntervalMs: 3_600_000 });
  journeyIds = fixture.ids['journeys'] ?? {};
  eventId = fixture.ids['holons']?.['spring'] ?? 0;
});
afterAll(() => fixture.stop());

/**
 * Creates conversations of the journey at `spring`, each with two separate people and a provenance envelope in
 * `publishing`.
 */
async function fill(journey: string, count: number): Promise<void> {
  await fixture.env.sql(
    `with people as (
       insert into directory.people (name, contact) select 'P' || n, '{}' from generate_series(1, 2 * $3::integer) n returning id
     ), numbered as (select id, row_number() over () - 1 as place from people)
     insert into conversations.conversations (event_id, journey_id, start_at, participant_ids, connected_ids, infos)
     select $2, $1, timestamptz '2026-01-01' + min(place) * interval '1 minute', array_agg(id), array[$2::integer],
       '{"publishing": {"fields": {"title": {"value": "T", "provenance": {}}}}}'
     from numbered group by place / 2`,
    [journeyIds[journey], eventId, count],
  );
}

/**
 * Returns the names or texts of the statements that all services run during `work`, except statements of job queues.
 */
async function recordStatements(work: () => Promise<unknown>): Promise<string[]> {
  const seen: string[] = [];
  const query = jest.spyOn(pg.Client.prototype, 'query');
  try {
    await work();
    for (const [given] of query.mock.calls as unknown as [string | { text?: string; name?: string }][]) {
      const text = typeof given === 'string' ? given : (given.text ?? '');
      const name = typeof given === 'string' ? given : (given.name ?? text);
      if (!/jobs|outbox/.test(`${name} ${text}`)) seen.push(name.slice(0, 60));
    }
  } finally {
    query.mockRestore();
  }
  return seen;
}

describe('browse and search with few and with many rows (rules/discovery#browse, rules/discovery#search-and-summary)', () => {
  const many = 300;
  /**
   * The maximum number of statements: six for the cursor, five for people, holons, journeys, the requested holon and
   * visibility.
   */
  const most = 11;
  const browse = (journey: string) => fixture.call(rpcs.browseJourney, { journey_slug: journey }, user);

  beforeAll(async () => {
    await fill('plain', 1);
    await fill('straight-in', many);
    await fill('shared', 1);
    await fill('hosting', many);
    // Caches the journeys and the holon before the measurement; the people of the rows are not cached.
    for (const journey of ['plain', 'straight-in']) {
      await fixture.call(rpcs.browseJourney, { journey_slug: journey, holon_slug: 'autumn' }, user);
    }
    await browse('shared');
  });

  it('browses a journey with the same statements for one conversation and for many', async () => {
    const few = await recordStatements(async () => expect((await browse('plain')).conversations).toHaveLength(1));
    const lots = await recordStatements(async () =>
      expect((await browse('straight-in')).conversations).toHaveLength(many),
    );
    expect(few.length).toBeGreaterThan(0);
    expect(lots.toSorted()).toEqual(few.toSorted());
  });

  it('reads the conversations of all groups with one cursor to browse a holon and to search', async () => {
    const statements = await recordStatements(async () => {
      const { events } = await fixture.call(rpcs.browseHolon, { holon_slug: 'host-org' }, user);
      const sizes = events.flatMap((event) => event.journeys.map((group) => group.conversations.length));
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(many);
    });
    expect(statements.filter((name) => name.startsWith('declare'))).toHaveLength(1);
    expect(statements.filter((name) => name.startsWith('fetch'))).toHaveLength(1);
    expect(statements.length).toBeLessThanOrEqual(most);
    let found = 0;
    const searched = await recordStatements(async () => {
      found = (await fixture.call(rpcs.search, { holon_slug: 'host-org' }, user)).length;
    });
    expect(found).toBeGreaterThan(2 * many);
    // A search reads 200 rows at a time: each further batch is one fetch and one person look-up.
    const batches = searched.filter((name) => name.startsWith('fetch')).length;
    expect(batches).toBeLessThanOrEqual(Math.ceil(found / 200) + 1);
    expect(searched.length).toBeLessThanOrEqual(most + 2 * (batches - 1));
  });
});

describe('conversations.search with a slow reader (rules/http#limits: no pagination)', () => {
  it('buffers one batch of search results for a slow reader, and reads the next batch when it continues', async () => {
    await fixture.env.sql(
      `insert into conversations.conversations (event_id, journey_id, start_at, infos)
       select $1, $2, timestamptz '2020-01-01' + n * interval '1 minute', '{}' from generate_series(1, 12000) n`,
      [eventId, journeyIds['open-circle']],
    );
    const reply = await fixture.bus.callRaw(rpcs.search, { sort: 'date_asc' }, contextFor(rpcs.search, user));
    if (reply.kind !== 'stream') throw new Error('a long answer is a stream');
    const parts: Buffer[] = [];
    for await (const chunk of reply.chunks) {
      if (parts.length < 3) await new Promise((resolve) => setTimeout(resolve, 300));
      parts.push(Buffer.from(chunk));
    }
    const items = JSON.parse(Buffer.concat(parts).toString('utf8')) as { start: string | null }[];
    expect(items.length).toBeGreaterThanOrEqual(12_000);
    const starts = items.map((item) => item.start ?? '9');
    expect(starts).toEqual(starts.toSorted());
  });
});

describe('conversations.questions.record-change (rules/questions#record-a-change; D14)', () => {
  it('returns a replayed question change even if its time is now in the future by the clock of the service (D14)', async () => {
    fixture.clock.set('2030-06-01T00:00:00Z');
    const { id, questions } = await fixture.create();
    const request = (occurredAt: string) => ({
      conversation_id: id,
      idempotency_key: 'k',
      change: { questionId: questions[0]?.id ?? 0, occurredAt },
    });
    expect(await fixture.refusal(rpcs.recordQuestionChange, request('2030-06-01T00:05:00.000001Z'))).toMatchObject({
      reason: 'occurred_at_in_future',
    });
    expect(await fixture.call(rpcs.recordQuestionChange, request('2030-06-01T00:05:00Z'))).toMatchObject({
      replayed: false,
    });
    fixture.clock.set('2030-05-01T00:00:00Z');
    expect(await fixture.call(rpcs.recordQuestionChange, request('2030-06-01T00:05:00Z'))).toMatchObject({
      replayed: true,
    });
    fixture.clock.set('2030-01-01T00:00:00Z');
  });
});
