/**
 * A streamed response without data for its first 15 seconds; with a shorter pause: libs/infrastructure/http/event-stream.test.ts
 * (D96).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LlmServer, startLlm, waitFor } from '#libs/product/testing';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

let llm: LlmServer;
let platform: TestPlatform;
beforeAll(async () => {
  llm = await startLlm();
  const settings = { LLM_BASE_URL: llm.baseUrl, LLM_API_KEY: llm.apiKey, LLM_MODEL: 'scripted' };
  platform = await startTestPlatform(import.meta.url, settings, { services: ['api-gateway', 'directory', 'agents'] });
  await platform.apply({ agents: [{ slug: 'guide', name: 'Guide' }] });
});
afterAll(async () => {
  await platform.stop();
  await llm.stop();
});

describe('POST /api/chat/{agent_slug}/message/ with Accept: text/event-stream', () => {
  it('starts the stream after 15 s without output, also while waiting for the turn, and sends a later failure as the last event (D96)', async () => {
    const hello = { token: null, json: { body: 'Hello', visitor_id: null } };
    const visitorId = (await platform.call('POST', '/api/chat/guide/message/', hello)).json.visitor_id;
    const held = Promise.withResolvers<string>();
    const asked = performance.now();
    const stream = async (body: string) => {
      const response = await fetch(`${platform.baseUrl}/api/chat/guide/message/`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
        body: JSON.stringify({ body, visitor_id: visitorId }),
      });
      return { response, beganAfterMs: performance.now() - asked, text: response.text() };
    };
    llm.answerWith(() => held.promise);
    const first = stream('Slowly, please');
    await waitFor(() => llm.pending > 0, { what: 'the first question' });
    const second = stream('And then?');
    const both = await Promise.all([first, second]);
    for (const { response, beganAfterMs } of both) {
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
      ]);
      expect(beganAfterMs).toBeGreaterThan(14_900);
    }
    llm.fail({ kind: 'refusal' });
    llm.answerWith(undefined);
    held.resolve('At last');
    const [answered, failed] = await Promise.all(both.map(({ text }) => text));
    expect(answered).toMatch(/^(:\n\n)+(event: snapshot\n.*\n\n)*event: done\ndata: .*"agent_html":"At last".*\n\n$/);
    expect(failed).toMatch(
      /^(:\n\n)+event: error\ndata: \{"detail":"The agent cannot reply now. Nothing was recorded."\}\n\n$/,
    );
  });
});
