/**
 * An attacker with a compromised service publishes arbitrary messages to the feed's stream
 * (docs/adr/service-accounts.md; V2, V4).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { nanos } from '@nats-io/transport-node';
import { startService, waitFor } from '#libs/product/testing';
import { startConversationFixture, type ConversationFixture } from '../integration/conversations/fixture.ts';
import { createFeedReader, type FeedReader } from '../integration/events/reader.ts';
import { type Intruder, takeOver } from './intruder.ts';

let fixture: ConversationFixture;
let feed: FeedReader;
let media: Intruder;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
  await startService('events', fixture.env);
  feed = createFeedReader(fixture.bus);
  media = await takeOver('media', fixture.env.settings);
});
afterAll(async () => {
  await media.connection.close();
  await fixture.stop();
});

const event = {
  number: 1,
  type: 'video.available',
  subject_type: 'conversation',
  subject_id: 1,
  data: {},
  access: null,
  farewell: false,
  occurred_at: new Date().toISOString(),
};
const write = (changes: object): string => JSON.stringify({ told: [{ ...event, ...changes }] });
const levels = 200_000;
const deep = write({ data: 'here' }).replace('"here"', `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

/** Publishes messages to the stream as the media service does, and waits until the writer has processed them. */
async function tell(...messages: string[]): Promise<void> {
  for (const message of messages) media.connection.publish(media.subject('feed.media'), message);
  await media.connection.flush();
  await waitFor(async () => {
    const { pending, ackPending } = await fixture.bus.consumerLag('FEED', 'events-writer');
    return pending + ackPending === 0;
  });
}

async function begin(): Promise<{ id: number; about: { subject_type: 'conversation'; subject_id: number } }> {
  const { id } = await fixture.create();
  const about = { subject_type: 'conversation', subject_id: id } as const;
  await feed.told(2, about);
  return { id, about };
}

describe('events published by a compromised service', () => {
  it.each([
    ['nothing', ''],
    ['half a message', '{"told":['],
    ['nested deeper than anybody can write', deep],
    ['a type with U+0000', write({ type: 'a\0b' })],
    ['data with U+0000', write({ data: { a: '\0' } })],
    ['data with half of a surrogate pair', write({ data: { a: '\ud800' } })],
    ['a type that no index takes', write({ type: 'x'.repeat(100_000) })],
    ['an id that is none', write({ subject_id: 1e300 })],
    ['a number that is none', write({ number: 1e300 })],
    ['holons that are none', write({ access: { holons: [2 ** 40], people: [] } })],
  ])('continues the feed after an invalid event of a compromised service: %s', async (_name, message) => {
    const { id, about } = await begin();
    await tell(message);
    await fixture.patch(id, { infos: { n: 1 } });
    expect((await feed.told(3, about)).at(-1)).toEqual(['conversation.updated', {}]);
    expect(await feed.told(0, { types: 'video.*' })).toEqual([]);
  });

  it('continues the feed after broker messages that a compromised service redirects to it', async () => {
    await startService('media', fixture.env);
    const { id, about } = await begin();
    const stream = `${fixture.env.settings['NATS_SUBJECT_PREFIX']}_JOBS`;
    const pull = { batch: 1, expires: nanos(10) };
    const settledUpTo = async (): Promise<number> =>
      (await fixture.bus.consumerLag('FEED', 'events-writer')).settledUpTo;
    const before = await settledUpTo();
    await media.send(`$JS.API.CONSUMER.MSG.NEXT.${stream}.media_send-captions`, pull, {
      reply: media.subject('feed.directory'),
    });
    await waitFor(async () => (await settledUpTo()) > before);
    await fixture.patch(id, { infos: { n: 1 } });
    expect((await feed.told(3, about)).at(-1)).toEqual(['conversation.updated', {}]);
  });

  it('rejects events in the name of another service, and events whose subject does not match the type', async () => {
    const { id } = await begin();
    const { next: after } = await feed.read({ after: 'latest' });
    await tell(
      write({ type: 'conversation.deleted', subject_id: id, data: { reason: 'api' }, farewell: true }),
      write({ type: 'person.erased', subject_type: 'person', subject_id: fixture.personId('cleo'), farewell: true }),
      write({ subject_type: 'person', subject_id: fixture.personId('cleo') }),
      write({ type: 'webhook_endpoint.enabled', subject_type: 'webhook_endpoint' }),
      write({ number: 2, subject_id: id }),
    );
    expect(await feed.told(1, { after })).toEqual([['video.available', {}]]);
  });

  it("does not let a service change the readers of another service's subject or mark it as deleted", async () => {
    const { id, about } = await begin();
    const readSubject = (): Promise<unknown> =>
      fixture.env.sql(
        `select known, holons, people, gone from events.subjects where type = 'conversation' and id = $1`,
        [id],
      );
    const before = await readSubject();
    await tell(write({ number: 3, subject_id: id, access: { holons: [], people: [7] }, farewell: true }));
    expect(await feed.told(3, about)).toContainEqual(['video.available', {}]);
    expect(await readSubject()).toEqual(before);
  });
});
