/**
 * Server-side request forgery (OWASP API7:2023): an address chosen by an attacker must not reach the internal network.
 * The attackers are a meeting provider with misleading download links, an identity provider with a misleading key URL,
 * and every provider that redirects.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type InnerServer,
  type JobWatch,
  playBytes,
  type RealtimeKitServer,
  startInnerServer,
  startRealtimeKit,
  watchJobs,
} from '#libs/product/testing';
import { applyDemo, createConversation, eventually, type Demo, type TestPlatform } from '../e2e/test-platform.ts';
import { readMetric, startTarget } from './attacker.ts';

let inner: InnerServer;
/**
 * Simulates a model and a Bot API that redirect to the internal server, and an identity provider whose key URL points
 * to it.
 */
let misleading: Server;
let issuer: string;
let provider: RealtimeKitServer;
let platform: TestPlatform;
let demo: Demo;
let imports: JobWatch;
let recordings: JobWatch;
let count = 0;
beforeAll(async () => {
  inner = await startInnerServer();
  misleading = createServer((request, response) => {
    request.resume();
    if (request.url === '/.well-known/openid-configuration')
      return response.end(JSON.stringify({ issuer, jwks_uri: `https://127.0.0.1:${inner.port}/keys` }));
    return response.writeHead(307, { location: `http://127.0.0.1:${inner.port}/taken` }).end();
  });
  misleading.listen(0, '127.0.0.1');
  await once(misleading, 'listening');
  const { port } = misleading.address() as AddressInfo;
  issuer = `http://127.0.0.1:${port}`;
  provider = await startRealtimeKit();
  platform = await startTarget(import.meta.url, {
    REALTIMEKIT_BASE_URL: provider.baseUrl,
    REALTIMEKIT_API_TOKEN: provider.apiToken,
    REALTIMEKIT_WEBHOOK_KEY_URL: `${issuer}/key.json`,
    LLM_BASE_URL: issuer,
    TELEGRAM_API_ROOT: issuer,
    OIDC_ISSUER: issuer,
    OIDC_AUDIENCE: 'https://api.example.org',
    OUTBOUND_ALLOWED_HOSTS: `127.0.0.1:${port}`,
  });
  demo = await applyDemo(platform, 'inside', [
    { slug: 'held', title: 'Held' },
    { slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config: {} },
    { slug: 'film', title: 'Film', pipeline_job: 'recording_import', config: {} },
  ]);
  imports = watchJobs(platform, 'transcripts.transcript-import');
  recordings = watchJobs(platform, 'media.recording-import');
});
afterAll(async () => {
  await platform.stop();
  await Promise.all([provider.stop(), inner.stop()]);
  misleading.closeAllConnections();
  misleading.close();
});

/** Creates a conversation that was held in a room of the meeting provider and that has entered its import step. */
async function meet(): Promise<number> {
  count += 1;
  const { id } = await createConversation(
    platform,
    demo,
    new Date(Date.UTC(2027, 0, 1) - count * 3_600_000).toISOString(),
  );
  const meetingId = `m-${count}`;
  provider.addSession({
    id: `s-${count}`,
    meetingId,
    startedAt: '2026-05-01T09:50:00.000Z',
    endedAt: '2026-05-01T11:10:00.000Z',
  });
  const content = playBytes(Buffer.from('film'), '"film"');
  const times = { startedAt: '2026-05-01T09:50:00.000Z', stoppedAt: '2026-05-01T11:10:00.000Z' };
  const downloadUrl = `http://127.0.0.1:${inner.port}/film`;
  provider.setRecording({ id: `r-${count}`, meetingId, status: 'UPLOADED', ...times, content, downloadUrl });
  provider.setArtifact(`s-${count}`, { rows: [] });
  const window = { conversationStartedAt: '2026-05-01T10:00:00Z', captureEndedAt: '2026-05-01T11:00:00Z' };
  const json = {
    meetingId,
    participants: [{ customParticipantId: 'c-ada', personId: demo.ada, displayName: 'Ada' }],
    ...window,
  };
  await platform.call('POST', `/api/coherence/conversations/${id}/enter-coherence`, { json });
  await platform.call('POST', `/api/coherence/conversations/${id}/recorded`, {
    headers: { 'idempotency-key': 'once' },
  });
  return id;
}

const countRefused = (service: string): Promise<number> =>
  readMetric(platform, service, 'coherence_outbound_refused_total');

/** Notations of an internal address; `PORT` is the port of the internal server. */
const addresses = [
  'http://127.0.0.1:PORT/latest/meta-data?X-Signature=hush',
  'http://localhost:PORT/?X-Signature=hush',
  'http://[::1]:PORT/?X-Signature=hush',
  'http://[::ffff:127.0.0.1]:PORT/?X-Signature=hush',
  'http://[::127.0.0.1]:PORT/?X-Signature=hush',
  'http://[64:ff9b::7f00:1]:PORT/?X-Signature=hush',
  'http://2130706433:PORT/?X-Signature=hush',
  'http://0x7f.1:PORT/?X-Signature=hush',
  'http://0:PORT/?X-Signature=hush',
  'http://169.254.169.254/latest/meta-data/?X-Signature=hush',
  'http://[fd00:ec2::254]/latest/meta-data/?X-Signature=hush',
  'http://user:pass@127.0.0.1:PORT/?X-Signature=hush',
  'file:///etc/passwd?X-Signature=hush',
  'ftp://127.0.0.1:PORT/?X-Signature=hush',
];

describe('internal addresses named by a provider (D64 to D77; architecture#outgoing-calls)', () => {
  it.each(addresses)('does not connect to an internal address for a transcript: %s', async (address) => {
    const url = address.replace('PORT', String(inner.port));
    const data = {
      sessionId: 's',
      transcript_download_url: url,
      transcript_download_url_expiry: '2040-01-01T00:00:00Z',
    };
    provider.addFault('transcript', { status: 200, body: JSON.stringify({ success: true, data }) });
    const id = await meet();
    const error = await imports.waitForError(id);
    provider.clearFaults();
    expect(error).toMatch(/is not public|is not a plain http or https URL/);
    expect(error).not.toMatch(/hush|meta-data|passwd|user:pass/);
    expect(inner.seen).toEqual([]);
  });

  it('does not connect to an internal address for a recording', async () => {
    const id = await meet();
    await platform.call('POST', `/api/coherence/conversations/${id}/recorded`, {
      headers: { 'idempotency-key': 'twice' },
    });
    expect(await recordings.waitForError(id)).toContain('is not public');
    expect(inner.seen).toEqual([]);
  });

  it.each(['download', 'transcript', 'sessions'] as const)(
    'does not follow a redirect from %s to an internal address',
    async (place) => {
      provider.addFault(place, { status: 302, headers: { location: `http://127.0.0.1:${inner.port}/redirected` } });
      const id = await meet();
      expect(await imports.waitForError(id)).toContain('answered with status 302');
      provider.clearFaults();
      expect(inner.seen).toEqual([]);
    },
  );

  it('does not follow redirects of the model, the Bot API or the server of the webhook key to an internal address', async () => {
    const messaging = { bot_token: '77:inside', webhook_secret: 'inside-inside-inside-inside' };
    await platform.apply({
      agents: [{ slug: 'guide', name: 'Guide', prompt: 'You are the guide.', config: { messaging } }],
    });
    const visitor = await platform.call('POST', '/api/chat/guide/message/', { token: null, json: { body: 'Hello' } });
    expect(visitor.status).toBe(503);
    const message = {
      message_id: 1,
      date: 1,
      from: { id: 5, is_bot: false },
      chat: { id: 5, type: 'private' },
      text: 'Hello',
    };
    const headers = { 'x-telegram-bot-api-secret-token': messaging.webhook_secret };
    await platform.call('POST', '/api/hook/agents/guide', { token: null, json: { update_id: 1, message }, headers });
    await platform.call('POST', '/api/hook/meetings', {
      token: null,
      json: { event: 'recording.statusUpdate' },
      headers: { 'rtk-signature': 'x' },
    });
    await eventually(async () => {
      const [row] = await platform.sql<{ error: string | null }>(
        `select error from agents.jobs where type = 'agents.work-chat'`,
      );
      const rows = await platform.sql('select 1 from conversations.webhook_receipts');
      if (row === undefined || rows.length === 0) throw new Error('the webhooks are still under way');
    });
    expect(inner.seen).toEqual([]);
  });

  it('does not connect to an internal key URL of the identity provider (S5)', async () => {
    const seconds = Math.floor(Date.now() / 1_000);
    const claims = { iss: issuer, aud: 'https://api.example.org', sub: 'ada', iat: seconds, exp: seconds + 600 };
    const [header, payload] = [{ alg: 'RS256', typ: 'JWT', kid: 'k' }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    const answer = await platform.call('GET', '/api/v1/people', { token: `${header}.${payload}.c2lnbmF0dXJl` });
    expect(answer.status).toBe(503);
    expect(inner.seen).toEqual([]);
    expect(await countRefused('api-gateway')).toBeGreaterThan(0);
  });

  it('counts rejected internal addresses in a metric for operators', async () => {
    expect(await countRefused('transcripts')).toBeGreaterThanOrEqual(addresses.length - 3);
  });
});
