import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packWebhooks } from '#libs/product/webhooks';
import { provideFfmpeg, provideTimeoutMs, startService, waitFor } from '#libs/product/testing';
import { conversations, meetingWebhookSubject } from '#services/conversations';
import { playNoise, startRecordingFixture, type RecordingFixture } from './recording-fixture.ts';

let fixture: RecordingFixture;
const noise = playNoise(100_000);

beforeAll(async () => {
  fixture = await startRecordingFixture(import.meta.url, await provideFfmpeg());
  await fixture.media.stopConversations();
  await startService('conversations', fixture.media.env, {
    REALTIMEKIT_WEBHOOK_KEY_URL: fixture.provider.webhooks.keyUrl,
  });
  await fixture.start();
}, provideTimeoutMs);
afterAll(() => fixture.media.stop());

/** Publishes a webhook as the gateway stores it. */
async function deliver(body: string | null, headers: Record<string, string>): Promise<void> {
  const id = randomUUID();
  const webhook = {
    facts: { id, received_at: new Date().toISOString(), headers },
    body: body === null ? null : Buffer.from(body),
  };
  await fixture.media.bus.publishDurable(meetingWebhookSubject, packWebhooks([webhook]), { msgId: id });
}
const receipts = async () =>
  (await fixture.media.call(conversations.rpcs.listWebhooks, { kind: 'meeting', limit: 200 })).items;
const settled = (count: number) =>
  waitFor(async () => {
    const items = await receipts();
    return items.length === count && items.every(({ outcome }) => outcome !== 'pending') ? items : undefined;
  });
const uploaded = (meetingId: string) =>
  JSON.stringify({ event: 'recording.statusUpdate', recording: { status: 'UPLOADED', meetingId } });

describe('processing of POST /api/hook/meetings (rules/providers#realtimekit-webhooks; D20)', () => {
  it('starts an import that waits in backoff, once for a repeated webhook, and again for a replayed one', async () => {
    const { id, meetingId, play } = await fixture.meet({ content: noise, journey: 'plain', status: 'UPLOADING' });
    await fixture.jobs.waitForError(id, 'the recording is not uploaded yet');
    await fixture.media.env.sql(`update media.jobs set run_at = now() + interval '15 minutes' where state = 'queued'`);
    play({ status: 'UPLOADED' });
    const body = uploaded(meetingId);
    const headers = fixture.provider.webhooks.headers(body);
    await deliver(body, headers);
    await fixture.jobs.waitForState(id);
    await deliver(body, headers);
    const [receipt] = await waitFor(async () => {
      const items = await settled(1);
      return items[0]?.deliveries === 2 ? items : undefined;
    });
    expect(receipt).toMatchObject({
      outcome: 'applied',
      message: 'Published for 1 conversation.',
      event: 'recording.statusUpdate',
      conversation_id: id,
      person_id: null,
    });
    const replay = { ids: [receipt?.id ?? 0], limit: 1 };
    const { job_ids: jobIds } = await fixture.media.call(conversations.rpcs.replayWebhooks, replay);
    const [jobId = ''] = jobIds;
    await waitFor(
      async () => (await fixture.media.call(conversations.rpcs.showJob, { id: jobId })).state === 'succeeded',
    );
  });

  it.each([
    [
      'a signature of other bytes',
      'rejected_signature',
      (body: string) => fixture.provider.webhooks.headers(`${body} `),
    ],
    ['no signature', 'rejected_signature', () => ({ 'rtk-uuid': randomUUID() })],
    [
      'a signature that is no base64',
      'rejected_signature',
      () => ({ 'rtk-uuid': randomUUID(), 'rtk-signature': '%%%' }),
    ],
  ])('starts no import for a meeting webhook with %s', async (_what, outcome, headersOf) => {
    const { id, meetingId } = await fixture.meet({ content: noise, journey: 'plain', status: 'UPLOADING' });
    await fixture.jobs.waitForError(id, 'the recording is not uploaded yet');
    await fixture.media.env.sql(`update media.jobs set run_at = now() + interval '15 minutes' where state = 'queued'`);
    const before = (await receipts()).length;
    await deliver(uploaded(meetingId), headersOf(uploaded(meetingId)));
    const [receipt] = await settled(before + 1);
    expect(receipt).toMatchObject({ outcome, conversation_id: null });
    expect(await fixture.jobs.list(id)).toMatchObject([{ state: 'queued', attempts: 1 }]);
  });

  it.each([
    ['no JSON', '{', 'rejected_unreadable'],
    ['no meeting', '{"event":"x"}', 'ignored'],
    ['a meeting that nobody waits for', '{"event":"x","meeting":{"id":"nobody"}}', 'ignored'],
  ])('acknowledges a signed meeting webhook without effect: %s', async (_what, body, outcome) => {
    const before = (await receipts()).length;
    await deliver(body, fixture.provider.webhooks.headers(body));
    expect((await settled(before + 1))[0]).toMatchObject({ outcome });
  });

  it('stores a receipt for a meeting webhook whose body was too large to store', async () => {
    const before = (await receipts()).length;
    await deliver(null, { 'rtk-uuid': randomUUID() });
    expect((await settled(before + 1))[0]).toMatchObject({ outcome: 'rejected_too_large' });
  });
});
