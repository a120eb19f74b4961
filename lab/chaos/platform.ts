/** Platform of a run: two processes of each service, simulated providers, and the test data of the clients. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { generateActorKeys } from '#libs/infrastructure/actor';
import { createLogger } from '#libs/infrastructure/logger';
import { createDatabase } from '#libs/infrastructure/orm';
import { createTestActors } from '../../libs/product/testing/actors.ts';
import { bookingSecret, type TestEnvironment } from '../../libs/product/testing/environment.ts';
import { type LlmServer, startLlm } from '../../libs/product/testing/llm.ts';
import { type Platform, startPlatform } from '../../libs/product/testing/platform.ts';
import { type RealtimeKitServer, startRealtimeKit } from '../../libs/product/testing/realtimekit.ts';
import { runStatements } from '../../libs/product/testing/postgres-pair.ts';
import { startTelegram, type TelegramServer } from '../../libs/product/testing/telegram.ts';
import { waitFor } from '../../libs/product/testing/wait-for.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../libs/product/testing/webhook-receiver.ts';
import type { ServiceProcess } from '../../libs/product/servers/service-process.ts';
import type { ChaosServers } from './servers.ts';

export interface ChaosPlatform {
  readonly platform: Platform;
  readonly sql: TestEnvironment['sql'];
  readonly provider: RealtimeKitServer;
  readonly telegram: TelegramServer;
  readonly llm: LlmServer;
  readonly token: string;
  readonly workspace: Workspace;
  readonly receiver: WebhookReceiver;
  /** Sets the clock of the process to `ms` milliseconds after the real time, from now on. */
  shiftClock(running: ServiceProcess, ms: number): void;
  stop(): Promise<void>;
}

/** Test data of the load. */
export interface Workspace {
  readonly journey: string;
  readonly steps: readonly string[];
  readonly importJourney: string;
  readonly agent: string;
  readonly telegramSecret: string;
  /**
   * One person per client. Clients must not share a person, because an unfinished conversation of a person is found at
   * every later time.
   */
  readonly people: readonly number[];
  readonly holon: number;
  /** Session of a superuser. */
  readonly session: string;
}

const token = 'chaos-token';
const loginSecret = 'chaos-gate';
const rootPassword = 'secret-of-root-of-chaos';
const telegramSecret = 'secret-of-the-messenger-of-chaos';
const peopleCount = 24;
const clockModule = pathToFileURL(join(import.meta.dirname, 'shifted-clock.ts')).href;
/** Event types sent to the endpoint of the run. */
const deliveredTypes = ['conversation.created', 'conversation.room_updated', 'person.created'];
/** Number of steps of the journey; no client records as many. */
const stepCount = 40;

/** @param dir existing folder for the data */
export async function startChaosPlatform(servers: ChaosServers, dir: string): Promise<ChaosPlatform> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const work of stops.splice(0).toReversed()) await work();
  };
  try {
    const [llm, provider, telegram, receiver] = [
      await startLlm(),
      await startRealtimeKit(),
      await startTelegram(),
      await startWebhookReceiver(),
    ];
    stops.push(() => Promise.all([llm.stop(), provider.stop(), telegram.stop(), receiver.stop()]));
    llm.answerWith((messages) => `You said: ${messages.at(-1)?.content ?? ''}`);
    const env = await createEnvironment(servers, dir, stops);
    const platform = await startPlatform(env, {
      processes: true,
      replicas: 2,
      imports: [`${clockModule}?dir=${encodeURIComponent(dir)}`],
      overrides: {
        LLM_BASE_URL: llm.baseUrl,
        LLM_API_KEY: llm.apiKey,
        LLM_MODEL: 'played',
        LLM_DAILY_TOKENS: '0',
        MEMORY_DELAY_MS: '200',
        WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}`,
        REALTIMEKIT_BASE_URL: provider.baseUrl,
        REALTIMEKIT_API_TOKEN: provider.apiToken,
        TELEGRAM_API_ROOT: telegram.apiRoot,
      },
    });
    stops.push(platform.stop);
    await noteCommits(servers.postgres.primary.url);
    const workspace = await setUp(platform, dir);
    await subscribe(platform, workspace, receiver);
    const shiftClock: ChaosPlatform['shiftClock'] = (running, ms) => {
      writeFileSync(join(dir, `clock-${running.identity?.pid}`), String(ms));
      running.kill('SIGUSR2');
    };
    return { platform, sql: env.sql, provider, telegram, llm, receiver, token, workspace, shiftClock, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createEnvironment(
  servers: ChaosServers,
  dir: string,
  stops: (() => Promise<unknown>)[],
): Promise<TestEnvironment> {
  const logger = createLogger({ service: 'chaos', level: 'fatal' });
  const database = await createDatabase({
    url: servers.postgres.url,
    schema: 'public',
    poolSize: 2,
    logger,
    applicationName: 'chaos',
    connectTimeoutMs: 60_000,
  });
  stops.push(() => database.close());
  const keys = generateActorKeys();
  const { accessKeyId, secretAccessKey } = servers.objectStore.server;
  const unusedPort = 'http://127.0.0.1:1'; // Placeholder: the platform sets these addresses
  return {
    id: `chaos-${process.pid}`,
    logger,
    actors: createTestActors(keys),
    settings: {
      DATABASE_URL: servers.databaseUrl,
      DATABASE_POOL_SIZE: '5',
      NATS_URL: servers.natsUrl,
      NATS_SUBJECT_PREFIX: '',
      S3_ENDPOINT: servers.objectStoreProxy.url,
      S3_REGION: 'us-east-1',
      S3_BUCKET: 'chaos',
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
      S3_FORCE_PATH_STYLE: 'true',
      ACTOR_SIGNING_KEY: keys.signingKey,
      ACTOR_PUBLIC_KEY: keys.publicKey,
      API_TOKEN: token,
      API_LOGIN_SECRET: loginSecret,
      BOOKING_WEBHOOK_SECRET: bookingSecret,
      DRAIN_WINDOW_SECONDS: '1',
      RATE_LIMIT_LOGIN_PER_MINUTE: '0',
      RATE_LIMIT_CHAT_PER_MINUTE: '0',
      RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE: '0',
      WEBHOOK_SPOOL_DIR: join(dir, 'webhooks'),
      MEDIA_URL: unusedPort,
      MEDIA_INTERNAL_URL: unusedPort,
      INTERNAL_PORT: '0',
      METRICS_PORT: '0',
      PORT: '0',
      LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'warn',
    },
    // Retries failed queries, which is safe because they only read. On a busy machine, connecting may take longer than
    // a service allows.
    sql: <Row>(text: string, params?: readonly unknown[]) => {
      const name = `q${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
      return waitFor(() => database.query<Row>({ name, text }, params), { what: name, intervalMs: 250 });
    },
    onStop: (work) => void stops.push(work),
    stop: async () => undefined,
  };
}

/** Creates a webhook endpoint, to which each event must be delivered despite faults. */
async function subscribe({ baseUrl }: Platform, { session }: Workspace, receiver: WebhookReceiver): Promise<void> {
  const response = await fetch(`${baseUrl}/api/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url('/events'), types: deliveredTypes }),
  });
  if (response.status !== 201)
    throw new Error(`the endpoint was answered ${response.status}: ${await response.text()}`);
}

/** Records commits with database triggers, which do not depend on the platform, for comparison with the feed. */
async function noteCommits(url: string): Promise<void> {
  await runStatements(
    url,
    'create table conversations.committed (place bigserial, id integer, type text)',
    `create function conversations.note_change() returns trigger language plpgsql security definer as $$ begin
      insert into conversations.committed (id, type) values (new.id, 'conversation.room_updated');
      return null;
    end $$`,
    `create trigger note_change after update on conversations.all_conversations for each row
      when (new.room is distinct from old.room) execute function conversations.note_change()`,
  );
}

async function setUp(platform: Platform, dir: string): Promise<Workspace> {
  const people = Array.from({ length: peopleCount }, (_, index) => ({
    key: `client-${index}`,
    name: `Client ${index}`,
  }));
  const steps = Array.from({ length: stepCount }, (_, index) => `s${index}`);
  const journey = { svc_app: 'coherence', object_kind: 'holon', applies_to: 'event', is_conversation: true };
  const importing = { slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config: {} };
  const file = join(dir, 'workspace.json');
  const document = {
    classes: [
      {
        slug: 'event',
        object_kind: 'holon',
        parent: null,
        label: 'Event',
        plural_label: 'Events',
        conversation_event: true,
      },
    ],
    journeys: [
      { ...journey, slug: 'walk', name: 'Walk', steps: steps.map((slug) => ({ slug, title: slug })) },
      { ...journey, slug: 'spoken', name: 'Spoken', steps: [{ slug: 'held', title: 'Held' }, importing] },
    ],
    people,
    accounts: [{ email: 'root@example.org', person: 'client-0', password: rootPassword, superuser: true }],
    holons: [{ slug: 'spring', name: 'Spring', class: 'event', parent: null, journeys: ['walk', 'spoken'] }],
    agents: [
      {
        slug: 'guide',
        name: 'Guide',
        prompt: 'You are the guide.',
        config: { messaging: { bot_token: '777:of-chaos', webhook_secret: telegramSecret } },
      },
    ],
  };
  await writeFile(file, JSON.stringify(document), { mode: 0o600 });
  const { code, stdout, stderr } = await platform.cli('workspace', 'apply', file, '--json');
  if (code !== 0) throw new Error(`the workspace could not be applied: ${stdout}${stderr}`);
  const { ids } = JSON.parse(stdout) as { ids: Record<string, Record<string, number>> };
  const login = await fetch(`${platform.baseUrl}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'x-svc-api-key': loginSecret, 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'root@example.org', password: rootPassword }),
  });
  if (login.status !== 200) throw new Error(`the login was answered ${login.status}`);
  return {
    journey: 'walk',
    steps,
    importJourney: 'spoken',
    agent: 'guide',
    telegramSecret,
    people: people.map(({ key }) => ids['people']?.[key] ?? 0),
    holon: ids['holons']?.['spring'] ?? 0,
    session: ((await login.json()) as { token: string }).token,
  };
}
