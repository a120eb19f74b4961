/**
 * A platform with everything that produces signals: a meeting provider, a language model, the Bot API and a trace
 * collector.
 */
import { randomBytes } from 'node:crypto';
import {
  type LlmServer,
  type RealtimeKitServer,
  startLlm,
  startRealtimeKit,
  startTelegram,
  startTraceCollector,
  type TelegramServer,
  type TraceCollector,
} from '#libs/product/testing';
import {
  applyDemo,
  createConversation,
  type Demo,
  eventually,
  startTestPlatform,
  type TestPlatform,
} from '../../e2e/test-platform.ts';

/** Words that occur only in request and response bodies. They must not appear in logs or traces. */
export const secretWords = {
  password: `secret-of-${randomBytes(9).toString('hex')}`,
  botToken: `777:${randomBytes(12).toString('hex')}`,
  webhookSecret: `hook-${randomBytes(12).toString('hex')}`,
  llmKey: `llm-${randomBytes(12).toString('hex')}`,
  providerToken: `rtk-${randomBytes(12).toString('hex')}`,
  bookingSecret: `cal-${randomBytes(12).toString('hex')}`,
  collectorTenant: `tenant-${randomBytes(12).toString('hex')}`,
  said: `saidxq${randomBytes(6).toString('hex')}`,
  heard: `heardxq${randomBytes(6).toString('hex')}`,
  booked: `bookedxq${randomBytes(6).toString('hex')}`,
  noted: `notedxq${randomBytes(6).toString('hex')}`,
};

export interface Signals {
  readonly platform: TestPlatform;
  readonly demo: Demo;
  readonly collector: TraceCollector;
  /** Returns the current `/metrics` output of every service. */
  scrape(): Promise<string>;
  stop(): Promise<void>;
}

const windowStart = '2026-05-01T10:00:00Z';
const windowEnd = '2026-05-01T11:00:00Z';

/** Starts everything. If a start fails, stops what has already been started. */
export async function startSignals(url: string): Promise<Signals & { provider: RealtimeKitServer; llm: LlmServer }> {
  const llm = await startLlm({ apiKey: secretWords.llmKey });
  const telegram: TelegramServer = await startTelegram();
  const provider = await startRealtimeKit({ apiToken: secretWords.providerToken });
  const collector = await startTraceCollector();
  const stopServers = async (): Promise<void> => {
    await Promise.all([llm, telegram, provider, collector].map((server) => server.stop()));
  };
  try {
    const platform = await startTestPlatform(
      url,
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
        OTEL_EXPORTER_OTLP_HEADERS: `x-tenant=${secretWords.collectorTenant}`,
        LLM_BASE_URL: llm.baseUrl,
        LLM_API_KEY: llm.apiKey,
        TELEGRAM_API_ROOT: telegram.apiRoot,
        REALTIMEKIT_BASE_URL: provider.baseUrl,
        REALTIMEKIT_API_TOKEN: provider.apiToken,
        BOOKING_WEBHOOK_SECRET: secretWords.bookingSecret,
        MEMORY_DELAY_MS: '0',
        LOG_LEVEL: 'debug',
      },
      { processes: true }, // Each service runs in a separate process, so that each has its own telemetry.
    );
    const demo = await applyDemo(platform, 'signals', [
      { slug: 'held', title: 'Held' },
      { slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config: {} },
    ]);
    const messaging = { bot_token: secretWords.botToken, webhook_secret: secretWords.webhookSecret };
    await platform.apply({
      agents: [{ slug: 'guide', name: 'Guide', prompt: 'You are the guide.', config: { messaging } }],
    });
    const scrape = async (): Promise<string> => {
      const texts = [...platform.runtime.processes.values()].map(async (item) =>
        (await fetch(`${item.operationsUrl}/metrics`)).text(),
      );
      return (await Promise.all(texts)).join('\n');
    };
    const stop = async (): Promise<void> => {
      await platform.stop();
      await stopServers();
    };
    return { platform, demo, collector, provider, llm, scrape, stop };
  } catch (error) {
    await stopServers();
    throw error;
  }
}

/**
 * Records a conversation and waits until its transcript is imported. @returns the conversation id and the request id of
 * `/recorded`
 */
export async function playMeeting({
  platform,
  demo,
  provider,
}: Signals & { provider: RealtimeKitServer }): Promise<{ id: number; requestId: string }> {
  const { id } = await createConversation(platform, demo);
  provider.addSession({
    id: 's-1',
    meetingId: 'm-1',
    startedAt: '2026-05-01T09:50:00.000Z',
    endedAt: '2026-05-01T11:10:00.000Z',
  });
  const said = {
    startTime: 600_000,
    endTime: 602_000,
    sentence: secretWords.heard,
    peerData: { id: 'p', displayName: 'Ada', cpi: 'c-ada' },
  };
  provider.setArtifact('s-1', {
    bytes: JSON.stringify([said, { ...said, startTime: 0, endTime: 9 }]),
    contentType: 'application/json',
  });
  await platform.call('POST', `/api/coherence/conversations/${id}/enter-coherence`, {
    json: {
      meetingId: 'm-1',
      participants: [{ customParticipantId: 'c-ada', personId: demo.ada, displayName: 'Ada' }],
      conversationStartedAt: windowStart,
      captureEndedAt: windowEnd,
    },
  });
  const recorded = await platform.call('POST', `/api/coherence/conversations/${id}/recorded`, {
    headers: { 'idempotency-key': 'once' },
  });
  await eventually(async () => {
    const { json } = await platform.call('GET', `/api/coherence/conversations/${id}/transcript/import-evidence`);
    if (json.status !== 'imported') throw new Error(`the import is ${json.status}`);
  });
  return { id, requestId: recorded.headers.get('x-request-id') ?? '' };
}

/** Generates a little of all other traffic that metrics, alerts and dashboards cover. */
export async function playTraffic(
  { platform, demo, llm }: Signals & { llm: LlmServer },
  conversation: number,
): Promise<{ token: string }> {
  const token = await platform.login(`ada-${demo.tag}@example.org`, `secret-of-ada-${demo.tag}`);
  await platform.call('POST', '/api/v1/auth/login', {
    token: null,
    headers: { 'x-svc-api-key': platform.loginSecret },
    json: { email: `ada-${demo.tag}@example.org`, password: secretWords.password },
  });
  await platform.call('GET', '/api/v1/classes', { token });
  await platform.call('GET', `/api/coherence/conversations/${conversation}?token=${secretWords.said}`);
  await platform.call('PUT', '/api/nowhere', { json: { note: secretWords.noted } });
  await platform.call('POST', '/api/chat/guide/message/', { token: null, json: { body: secretWords.said } });
  await platform.call('POST', `/api/coherence/conversations/${conversation}/audio`, { token, body: audioForm() });
  await platform.call('POST', `/api/coherence/hook/booking/${demo.ada}`, {
    token: null,
    json: { triggerEvent: 'BOOKING_CREATED', payload: { title: secretWords.booked } },
    headers: { 'x-cal-signature-256': 'wrong' },
  });
  const update = {
    update_id: 1,
    message: {
      message_id: 1,
      date: 1,
      from: { id: 5, is_bot: false },
      chat: { id: 5, type: 'private' },
      text: secretWords.said,
    },
  };
  const hook = { token: null, json: update, headers: { 'x-telegram-bot-api-secret-token': secretWords.webhookSecret } };
  await platform.call('POST', '/api/hook/agents/guide', hook);
  await eventually(async () => {
    if (llm.requests.length < 2) throw new Error('the model was not asked about the update');
    const rows = await platform.sql('select 1 from agents.jobs where state <> $1', ['succeeded']);
    if (rows.length > 0) throw new Error('jobs of agents are under way');
  });
  return { token };
}

function audioForm(): FormData {
  const form = new FormData();
  form.set('audio', new Blob([Buffer.from(`ID3${secretWords.said}`)], { type: 'audio/mpeg' }), 'talk.mp3');
  return form;
}
