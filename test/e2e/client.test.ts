/** The generated client against a running platform. Other tests use the client for ordinary calls. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiError, isErrorOf } from '../../clients/typescript/index.ts';
import { applyDemo, createConversation, type Demo, startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  demo = await applyDemo(platform, 'client');
});
afterAll(() => platform.stop());

const credentials = { email: 'ada-client@example.org', password: 'secret-of-ada-client' };
const failure = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('the TypeScript client (clients/typescript)', () => {
  it('logs in with the gate key and sends later calls with the token', async () => {
    const { body } = await platform.client.login({ body: credentials });
    const whoami = await platform.client.withToken(body.token).whoami();
    expect([whoami.status, whoami.body]).toEqual([
      200,
      {
        authenticated: true,
        person: expect.objectContaining({ id: demo.ada }),
        key: null,
      },
    ]);
  });

  it('sends path and query parameters, and returns the ETag of the response', async () => {
    const conversation = await createConversation(platform, demo);
    const path = { conversation_id: conversation.id };
    const read = await platform.client.getConversation({ path });
    expect(read.body).toEqual(conversation);
    const again = await platform.client.getConversation({
      path,
      headers: { 'If-None-Match': read.headers.get('etag') ?? '' },
    });
    expect([again.status, again.body]).toEqual([304, undefined]);
  });

  it('throws the documented errors, narrowed by operation and status', async () => {
    const query = { person_id: demo.ada, journey: 'no-such', time: '2026-05-01T10:00:00Z' };
    const error = await failure(platform.client.findActiveConversations({ query }));
    if (!isErrorOf(error, 'findActiveConversations') || error.status !== 404) throw new Error('expected a 404');
    expect('error' in error.body ? error.body.error : error.body.detail).toBe('journey_not_found');
    expect([error.requestId, isErrorOf(error, 'getConversation')]).toEqual([expect.any(String), false]);
  });

  it('omits the credential when a call passes `token: null`', async () => {
    const error = await failure(platform.client.getConversation({ path: { conversation_id: 1 } }, { token: null }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 401, body: { detail: 'Unauthorized' } });
  });

  it('uploads and downloads a stream with the client', async () => {
    const { id } = await createConversation(platform, demo, '2026-05-02T10:00:00Z');
    const client = platform.client.withToken((await platform.client.login({ body: credentials })).body.token);
    const bytes = new Uint8Array(randomBytes(3_000_000));
    const content = new Blob([bytes]).stream();
    const stored = await client.uploadAudio({ path: { conversation_id: id }, file: { name: 'a "talk".mp3', content } });
    expect([stored.status, stored.body.size_bytes]).toEqual([201, bytes.length]);
    const download = await client.downloadAudio({ path: { conversation_id: id } });
    if (download.status !== 200) throw new Error(`unexpected status ${download.status}`);
    expect(Buffer.from(await new Response(download.body).arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('encodes reserved characters in a path', async () => {
    const error = await failure(platform.client.getAgent({ path: { slug: 'no/such agent?' } }));
    expect(error).toMatchObject({ operation: 'getAgent', status: 404 });
  });
});
