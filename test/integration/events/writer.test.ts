/**
 * The feed writer (rules/events#types; V2): an unresponsive writer is replaced, and waiting requests are answered on
 * shutdown (V3).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Service } from '#libs/infrastructure/lifecycle';
import { startService } from '#libs/product/testing';
import { startConversationFixture, type ConversationFixture } from '../conversations/fixture.ts';
import { createFeedReader, type FeedReader } from './reader.ts';

let fixture: ConversationFixture;
let feed: FeedReader;
let service: Service;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
  service = await startService('events', fixture.env);
  feed = createFeedReader(fixture.bus);
});
afterAll(() => fixture.stop());

/** Creates a conversation and waits until all its events are in the feed. */
async function begin(): Promise<{
  id: number;
  after: string;
  about: { subject_type: 'conversation'; subject_id: number };
}> {
  const { id } = await fixture.create();
  const about = { subject_type: 'conversation', subject_id: id } as const;
  await feed.told(2, about);
  return { id, about, after: (await feed.read({ after: 'latest' })).next };
}

describe('feed writer (V2)', () => {
  it('replaces a feed writer within 5 s after it dies', async () => {
    const { id, after, about } = await begin();
    // Simulates a killed process: its lease is not renewed.
    const [left] = await fixture.env.sql<{ ok: boolean }>(
      `update events.feed_head set holder = gen_random_uuid() returning held_until < clock_timestamp() + interval '5 s' as ok`,
    );
    expect(left).toEqual({ ok: true });
    await fixture.patch(id, { infos: { n: 1 } });
    expect(await feed.told(1, { after, ...about })).toEqual([['conversation.updated', {}]]);
  });

  it('appends no events while another process has the lease, and afterwards all of them in order', async () => {
    const { id, after, about } = await begin();
    await fixture.env.sql(
      `update events.feed_head set holder = gen_random_uuid(), held_until = clock_timestamp() + interval '1 hour'`,
    );
    await fixture.patch(id, { infos: { n: 1 } });
    await fixture.writeRoom(id, { phase: 'conversation', version: 1 });
    expect((await feed.read({ after, ...about, wait: 2 })).items).toEqual([]);
    await fixture.env.sql('update events.feed_head set held_until = clock_timestamp()');
    expect(await feed.told(2, { after, ...about })).toEqual([
      ['conversation.updated', {}],
      ['conversation.room_updated', {}],
    ]);
  });

  it("does not rewrite the subject's row for each event", async () => {
    const { id, after, about } = await begin();
    const readVersion = (): Promise<unknown> =>
      fixture.env.sql(`select xmin, ctid from events.subjects where type = 'conversation' and id = $1`, [id]);
    const before = await readVersion();
    await fixture.patch(id, { infos: { n: 1 } });
    await feed.told(1, { after, ...about });
    expect(await readVersion()).toEqual(before);
  });

  it('continues after a stall in which the broker redelivers messages, and stops when requested', async () => {
    const { id, after, about } = await begin();
    const held = fixture.env.sql(
      'with held as (select last_position from events.feed_head for update) select pg_sleep(6) from held',
    );
    await fixture.patch(id, { infos: { n: 1 } });
    await held;
    expect(await feed.told(1, { after, ...about })).toEqual([['conversation.updated', {}]]);
    await service.stop();
    service = await startService('events', fixture.env);
    await fixture.patch(id, { infos: { n: 2 } });
    expect(await feed.told(2, { after, ...about })).toEqual([
      ['conversation.updated', {}],
      ['conversation.updated', {}],
    ]);
  });

  it('completes waiting feed requests when the feed writer stops', async () => {
    const { next: after } = await feed.read({ after: 'latest' });
    const startedMs = performance.now();
    const waiting = feed.read({ after, wait: 30 });
    // When this read returns, the waiting request has reached the service.
    await feed.read({ after, wait: 1 });
    await service.stop();
    expect(await waiting).toEqual({ items: [], next: after, has_more: false });
    expect(performance.now() - startedMs).toBeLessThan(20_000);
  });
});
