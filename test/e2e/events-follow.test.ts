/** A client that follows the feed receives all its events, however many invisible events exist (V4, V8, V10). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { createClient } from '../../clients/typescript/index.ts';
import { fillFeed } from '../integration/events/filler.ts';
import { applyDemo, createConversation, startTestPlatform, type Demo, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
/** The token of Ben, with access to the conversations in which he participates. */
let token: string;
/** The cursor before all events. */
let begin: string;
let conversation: number;
beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    { CONVERSATION_ACCESS: 'members' },
    { services: ['api-gateway', 'directory', 'conversations', 'events'] },
  );
  demo = await applyDemo(platform, 'far');
  token = await platform.login('ben-far@example.org', 'secret-of-ben-far');
  begin = (await platform.client.withToken(token).listEvents({ query: { after: 'latest' } })).body.next;
  // The feed's index lists Ben as participant of all these subjects, which are too many to check one by one. The owning
  // service does not know the subjects and denies access.
  await fillFeed(platform, 2_500, { first: 3_000_000, subjects: 2_500, person: demo.ben });
  await fillFeed(platform, 200_000, { first: 2_000_000, subjects: 5_000, person: 4_711 });
  conversation = (await createConversation(platform, demo, '2026-05-01T10:00:00Z', demo.ben)).id;
  await waitFor(async () => {
    const told = await platform.sql(
      `select 1 from events.feed where subject_type = 'conversation' and subject_id = $1`,
      [conversation],
    );
    return told.length === 2;
  });
});
afterAll(() => platform.stop());

describe('client.events with pages that end early (V4, V10)', () => {
  it.each([0, 25])('reaches the end of the feed without pauses or repeated requests; wait %d', async (waitSeconds) => {
    const pages: { after: string | null; items: number; more: boolean }[] = [];
    const client = createClient({
      baseUrl: platform.baseUrl,
      token,
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        const { items, has_more: more } = (await response.clone().json()) as { items: unknown[]; has_more: boolean };
        pages.push({
          after: new URL(input instanceof Request ? input.url : input).searchParams.get('after'),
          items: items.length,
          more,
        });
        return response;
      },
    });
    const patient = { firstDelayMs: 60_000, maxDelayMs: 60_000 };
    const got: string[] = [];
    for await (const event of client.events({
      after: begin,
      types: ['conversation.*'],
      pageSize: 2,
      waitSeconds,
      retry: patient,
    })) {
      expect(event.subject).toEqual({ type: 'conversation', id: conversation });
      got.push(event.type);
      if (got.length === 2) break;
    }
    expect(got).toEqual(['conversation.created', 'conversation.step_entered']);
    expect(new Set(pages.map(({ after }) => after)).size).toBe(pages.length);
    const early = pages.filter(({ items, more }) => items === 0 && more);
    if (waitSeconds === 0) expect(early.length).toBeGreaterThanOrEqual(3);
  });
});

describe('GET /api/v1/events (rules/http#ids)', () => {
  it.each(['0', '-1', '2147483648', '99999999999999999999'])(
    'returns no feed events for the unknown subject %s',
    async (id) => {
      const query = `after=${encodeURIComponent(begin)}&subject_type=conversation&subject_id=${id}`;
      const { status, json } = await platform.call('GET', `/api/v1/events?${query}`, { token });
      expect([status, json]).toEqual([200, { items: [], next: expect.any(String), has_more: false }]);
    },
  );
});
