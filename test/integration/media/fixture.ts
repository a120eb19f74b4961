/**
 * The media service with the real directory and conversations services, the object store behind a proxy, and a plain
 * HTTP client.
 */
import { randomBytes } from 'node:crypto';
import { request as sendRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Actor, ReplyOf, RequestOf, Rpc } from '#libs/infrastructure/contract';
import { connectBus, type Bus } from '#libs/infrastructure/nats';
import type { PipelineExtension } from '#libs/product/pipeline-worker';
import { createObjectStore, type ObjectStore } from '#libs/infrastructure/object-store';
import { packWebhooks } from '#libs/product/webhooks';
import {
  contextFor,
  createTestEnvironment,
  signBooking,
  type StartOptions,
  startService,
  startTcpProxy,
  type TcpProxy,
  type TestEnvironment,
} from '#libs/product/testing';
import { bookingWebhookSubject, conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { media } from '#services/media';

export interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
  /** Undefined when the body is not JSON. */
  json: unknown;
}

export interface MediaFixture {
  readonly env: TestEnvironment;
  readonly bus: Bus;
  /** Between media and the object store. */
  readonly proxy: TcpProxy;
  /** Accesses the object store directly, without the proxy. */
  readonly store: ObjectStore;
  readonly personId: number;
  readonly actor: Actor;
  /** Settings of the media service, for tests that start the service themselves. */
  readonly mediaSettings: Readonly<Record<string, string>>;
  call<R extends Rpc>(rpc: R, request: RequestOf<R>): Promise<ReplyOf<R>>;
  /** Creates a conversation and returns its id. */
  createConversation(): Promise<number>;
  startMedia(overrides?: Record<string, string>, options?: StartOptions): Promise<RunningMedia>;
  startConversations(): Promise<{ stop(): Promise<void> }>;
  stopConversations(): Promise<void>;
  /** Returns `infos.audio` as a client reads it. */
  readInfosAudio(conversationId: number): Promise<unknown>;
  listNotes(conversationId: number): Promise<ReplyOf<typeof conversations.rpcs.listConversationNotes>['items']>;
  /** Returns the keys of all objects of the conversation. */
  listObjects(conversationId: number): Promise<string[]>;
  /** Books or cancels through the booking webhook stream. */
  book(uid: string, triggerEvent: 'BOOKING_CREATED' | 'BOOKING_CANCELLED'): Promise<void>;
  stop(): Promise<void>;
}

export interface RunningMedia {
  readonly internalPort: number;
  readonly openPort: number;
  upload(conversationId: number, fileName: string, bytes: Uint8Array): Promise<Reply>;
  /** Starts an upload: sends the request and the head of the form part. The test sends the file. */
  open(conversationId: number, fileName: string, sizeBytes: number): OpenUpload;
  get(conversationId: number, headers?: Record<string, string>, method?: 'GET' | 'HEAD'): Promise<Reply>;
  stop(): Promise<void>;
}

export interface OpenUpload {
  readonly request: ClientRequest;
  readonly reply: Promise<Reply>;
  write(bytes: Uint8Array): Promise<void>;
  finish(): void;
}

const boundary = 'test-boundary';
const tail = Buffer.from(`\r\n--${boundary}--\r\n`);

function head(fileName: string): Buffer {
  return Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="audio"; filename="${fileName}"\r\nContent-Type: text/plain\r\n\r\n`,
  );
}

/** Starts the fixture; `pipeline` configures directory and conversations. */
export async function startMediaFixture(fileUrl: string, pipeline?: PipelineExtension): Promise<MediaFixture> {
  const env = await createTestEnvironment(fileUrl);
  const options = pipeline === undefined ? {} : { pipeline };
  await startService('directory', env, {}, options);
  const startConversations = () => startService('conversations', env, {}, { ...options, dueIntervalMs: 500 });
  let running = await startConversations();
  const bus = await connectBus({
    url: env.settings['NATS_URL'] ?? '',
    name: 'admin',
    prefix: env.settings['NATS_SUBJECT_PREFIX'],
    logger: env.logger,
    actors: env.actors,
  });
  env.onStop(() => bus.close());
  const call: MediaFixture['call'] = (rpc, request) => bus.call(rpc, request, contextFor(rpc));
  const { ids } = await call(directory.rpcs.applyWorkspace, { document: workspace, dry_run: false });
  const personId = ids['people']?.['ada'] ?? 0;

  const endpoint = env.settings['S3_ENDPOINT'] ?? '';
  const proxy = await startTcpProxy(endpoint);
  env.onStop(() => proxy.stop());
  const store = createObjectStore({
    endpoint,
    region: 'us-east-1',
    bucket: env.settings['S3_BUCKET'] ?? '',
    accessKeyId: env.settings['S3_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: env.settings['S3_SECRET_ACCESS_KEY'] ?? '',
    forcePathStyle: true,
  });
  env.onStop(async () => store.close());
  const actor: Actor = {
    kind: 'user',
    accountId: 1,
    personId,
    superuser: false,
    globalEditor: false,
    coherenceAccess: false,
  };
  const mediaSettings = { S3_ENDPOINT: proxy.url };
  let hour = 0;

  return {
    env,
    bus,
    proxy,
    store,
    personId,
    actor,
    mediaSettings,
    call,
    createConversation: async () => {
      const time = new Date(Date.UTC(2029, 0, 1) - ++hour * 3_600_000).toISOString();
      const [created] = await call(conversations.rpcs.findActive, {
        person_id: personId,
        journey: 'open-circle',
        time,
      });
      return created?.id ?? 0;
    },
    startMedia: async (overrides = {}, options = {}) => {
      const service = await startService('media', env, { ...mediaSettings, ...overrides }, options);
      return speakTo(service as unknown as Ports, { env, actor }, () => service.stop());
    },
    startConversations: async () => (running = await startConversations()),
    stopConversations: () => running.stop(),
    readInfosAudio: async (id) =>
      ((await call(conversations.rpcs.get, { conversation_id: id })).infos as Record<string, unknown>)['audio'],
    listNotes: async (id) => (await call(conversations.rpcs.listConversationNotes, { conversation_id: id })).items,
    listObjects: async (id) => (await Array.fromAsync(store.list(`audio/${id}/`))).map((item) => item.key),
    book: async (uid, triggerEvent) => {
      const payload = {
        uid,
        startTime: '2031-01-15T10:00:00Z',
        endTime: '2031-01-15T11:00:00Z',
        attendees: [],
        metadata: { videoCallUrl: 'https://meet.example.org/r?journey=open-circle' },
      };
      const body = Buffer.from(JSON.stringify({ triggerEvent, createdAt: new Date().toISOString(), payload }));
      const facts = {
        id: randomBytes(9).toString('hex'),
        received_at: new Date().toISOString(),
        person_id: String(personId),
        headers: { 'content-type': 'application/json', ...signBooking(body) },
      };
      await bus.publishDurable(bookingWebhookSubject, packWebhooks([{ facts, body }]), { msgId: facts.id });
    },
    stop: () => env.stop(),
  };
}

interface Ports {
  readonly port: number;
  readonly internalPort: number;
}

/** Returns a client of a media service that listens on these ports. */
export function speakTo(
  { port: openPort, internalPort: port }: Ports,
  { env, actor }: Pick<MediaFixture, 'env' | 'actor'>,
  stop: () => Promise<void>,
): RunningMedia {
  const path = (id: number): string => `/internal/conversations/${id}/audio`;
  const headersFor = (method: string, id: number) => ({
    'request-id': 'test',
    actor: env.actors.encodeFor(actor, method, path(id)),
  });
  const open: RunningMedia['open'] = (id, fileName, sizeBytes) => {
    const first = head(fileName);
    const length = first.byteLength + sizeBytes + tail.byteLength;
    const request = sendRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: path(id),
      headers: {
        ...headersFor('POST', id),
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': String(length),
      },
      agent: false,
    });
    const reply = readReply(request);
    reply.catch(() => undefined);
    request.write(first);
    return {
      request,
      reply,
      write: (bytes) => new Promise((resolve) => request.write(bytes, () => resolve())),
      finish: () => void request.end(tail),
    };
  };
  return {
    internalPort: port,
    openPort,
    stop,
    open,
    upload: (id, fileName, bytes) => {
      const upload = open(id, fileName, bytes.byteLength);
      upload.request.write(bytes);
      upload.finish();
      return upload.reply;
    },
    get: (id, given = {}, method = 'GET') => {
      const request = sendRequest({
        port,
        host: '127.0.0.1',
        method,
        path: path(id),
        headers: { ...headersFor(method, id), ...given },
        agent: false,
      });
      const reply = readReply(request);
      request.end();
      return reply;
    },
  };
}

export function readReply(request: ClientRequest): Promise<Reply> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const body = Buffer.concat(chunks);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, json: parse(body) });
      });
    });
  });
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** Waits until no job of the media service is queued or running. */
export async function countWaitingJobs(fixture: MediaFixture): Promise<number> {
  const { items } = await fixture.call(media.rpcs.listJobs, { limit: 1000 });
  return items.filter((job) => job.state === 'queued' || job.state === 'running').length;
}

const workspace = {
  classes: [
    {
      slug: 'event',
      object_kind: 'holon',
      label: 'Event',
      plural_label: 'Events',
      conversation_event: true,
      allowed_children: [],
    },
  ],
  journeys: [
    {
      slug: 'open-circle',
      name: 'Open circle',
      description: '',
      svc_app: 'coherence',
      object_kind: 'holon',
      applies_to: 'event',
      is_conversation: true,
      texts: {},
      questions: [],
      steps: [{ slug: 'held', title: 'Held' }],
    },
  ],
  people: [{ key: 'ada', name: 'Ada', contact: { email: 'ada@example.org' }, actor_kind: 'human' }],
  holons: [{ slug: 'spring', name: 'Spring', class: 'event', parent: null, links: {}, journeys: ['open-circle'] }],
};
