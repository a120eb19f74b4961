/** A small service with routes, to test the HTTP library with every kind of input and reply over real NATS. */
import { request as startRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  anyActor,
  defineService,
  listParameter,
  withoutActor,
  route,
  type Route,
  type RouteAccess,
  rpc,
  Type,
} from '#libs/infrastructure/contract';
import { AppError, appError, type ErrorCode } from '#libs/infrastructure/errors';
import { createApp, createHttpServer, mountRoutes, type Refusal } from '#libs/infrastructure/http';
import { byteStream, connectBus, jsonStream, rawJson, withOutcome } from '#libs/infrastructure/nats';
import { createTestEnvironment } from '#libs/product/testing';
import { createAuthenticate } from '../../../services/api-gateway/auth.ts';
import { createSecretCheck } from '../../../services/api-gateway/secrets.ts';

const anything = Type.Object({}, { additionalProperties: true });
const callers = { 'api-gateway': [...anyActor, ...withoutActor] };
const contract = defineService({
  service: 'probe',
  rpcs: {
    echo: rpc({
      subject: 'probe.thing.echo',
      callers,
      summary: 'Answers with the request.',
      request: anything,
      reply: Type.Unknown(),
    }),
    fail: rpc({
      subject: 'probe.thing.fail',
      callers,
      summary: 'Fails as asked.',
      request: anything,
      reply: Type.Unknown(),
    }),
    wait: rpc({
      subject: 'probe.thing.wait',
      callers,
      summary: 'Answers after `ms`.',
      request: anything,
      reply: Type.Unknown(),
      timeoutMs: 60_000,
    }),
    stream: rpc({
      subject: 'probe.thing.stream',
      callers,
      summary: 'Answers with `kib` KiB, broken off when asked.',
      request: anything,
      reply: Type.Unknown(),
    }),
  },
  jobs: {},
  events: {},
});
const { echo, fail, wait, stream } = contract.rpcs;

const thing = Type.Object({
  infos: Type.Optional(Type.Object({}, { additionalProperties: true })),
  count: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  version: Type.Optional(Type.Integer()),
  name: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 5 }), Type.Null()])),
  kind: Type.Optional(Type.Union([Type.Literal('red'), Type.Literal('blue')])),
  flag: Type.Optional(Type.Boolean()),
  at: Type.Optional(Type.String({ format: 'date-time' })),
  due: Type.Optional(Type.String({ format: 'date-time-offset' })),
  tags: Type.Optional(Type.Array(Type.String(), { maxItems: 2 })),
  people: Type.Optional(Type.Array(Type.Object({ id: Type.Integer() }))),
  claims: Type.Optional(Type.Record(Type.String(), Type.Object({ personId: Type.Integer() }))),
});
const thingId = Type.Object({ thing_id: Type.Integer() });
const ok = { 200: { description: 'OK' } };
const base = { tag: 'probe', summary: 'probe', replies: ok } as const;
const list = Type.Object({
  person_id: Type.Optional(Type.Integer()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 20 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
  time: Type.Optional(Type.String({ format: 'date-time' })),
  sort: Type.Optional(Type.Union([Type.Literal('date_desc'), Type.Literal('date_asc')])),
  flag: Type.Optional(Type.Boolean()),
  slug: Type.Optional(Type.String()),
  types: Type.Optional(listParameter({ description: 'Words.', maxLength: 20 })),
});

const surfaceRoutes = (prefix: string, name: string, access: RouteAccess): Route[] => [
  route({
    ...base,
    method: 'GET',
    path: `${prefix}/things/{thing_id}`,
    operationId: `${name}Get`,
    ...access,
    params: thingId,
    rpc: echo,
    etag: true,
  }),
  route({
    ...base,
    method: 'PATCH',
    path: `${prefix}/things/{thing_id}`,
    operationId: `${name}Patch`,
    ...access,
    params: thingId,
    body: { schema: thing },
    deprecatedFields: ['sessionId'],
    rpc: echo,
  }),
  route({
    ...base,
    method: 'GET',
    path: `${prefix}/list/`,
    operationId: `${name}List`,
    ...access,
    query: list,
    rpc: echo,
  }),
  route({
    ...base,
    method: 'POST',
    path: `${prefix}/fail`,
    operationId: `${name}Fail`,
    ...access,
    body: {
      schema: Type.Object({
        code: Type.String(),
        reason: Type.Optional(Type.String()),
        details: Type.Optional(anything),
      }),
    },
    rpc: fail,
  }),
];

const routes: Route[] = [
  ...surfaceRoutes('/api/probe', 'api', { auth: 'shared', scope: null }),
  ...surfaceRoutes('/api/v1/probe', 'v1', { auth: 'none' }),
  route({ ...base, method: 'GET', path: '/api/probe/things/special', operationId: 'special', auth: 'none', rpc: echo }),
  route({
    ...base,
    method: 'POST',
    path: '/api/probe/optional',
    operationId: 'optional',
    auth: 'none',
    body: { schema: anything, optional: true },
    rpc: echo,
  }),
  route({
    ...base,
    method: 'GET',
    path: '/api/probe/batch',
    operationId: 'batch',
    auth: 'none',
    query: Type.Object({ ids: Type.Array(Type.Integer(), { maxItems: 50 }) }),
    rpc: echo,
  }),
  route({
    ...base,
    method: 'POST',
    path: '/api/probe/keyed',
    operationId: 'keyed',
    auth: 'none',
    headers: Type.Object({ 'Idempotency-Key': Type.String({ minLength: 1, maxLength: 255 }) }),
    query: Type.Object({ person_id: Type.Integer() }),
    body: { schema: Type.Object({ questionId: Type.Integer() }) },
    status: 200,
    outcomes: { created: 201 },
    toRequest: ({ headers, body }) => ({ ...body, key: headers['Idempotency-Key'], outcome: 'created' }),
    rpc: echo,
  }),
  route({
    ...base,
    method: 'GET',
    path: '/api/probe/slugs/{slug}/',
    operationId: 'slug',
    auth: 'none',
    params: Type.Object({ slug: Type.String() }),
    rpc: echo,
  }),
  route({
    ...base,
    method: 'GET',
    path: '/api/probe/wait/{ms}',
    operationId: 'wait',
    auth: 'none',
    params: Type.Object({ ms: Type.Integer() }),
    deadlineMs: 400,
    rpc: wait,
  }),
  route({
    ...base,
    method: 'GET',
    path: '/api/probe/stream/{kib}',
    operationId: 'stream',
    auth: 'none',
    params: Type.Object({ kib: Type.Integer() }),
    query: Type.Object({ broken: Type.Optional(Type.Boolean()) }),
    rpc: stream,
  }),
  route({
    ...base,
    method: 'GET',
    path: '/api/probe/large/{kib}',
    operationId: 'large',
    auth: 'none',
    params: Type.Object({ kib: Type.Integer() }),
    etag: true,
    rpc: stream,
  }),
  route({ ...base, method: 'GET', path: '/api/probe/v1/x:y', operationId: 'colon', auth: 'none', rpc: echo }),
];

async function* produce(kib: number, broken: boolean): AsyncGenerator<Uint8Array> {
  for (let part = 0; part < kib; part++) {
    if (broken && part > kib / 2) throw new Error('the source broke');
    yield Buffer.alloc(1024, 0x61);
  }
}

export type Probe = Awaited<ReturnType<typeof startGatewayFixture>>;

export const token = 'probe-token';

/** Starts the fixture service on its own subjects, with an HTTP server in front of it. */
export async function startGatewayFixture(
  fileUrl: string,
  options: { maxInFlight?: number; maxConnections?: number } = {},
) {
  const env = await createTestEnvironment(fileUrl);
  const settings = {
    url: env.settings['NATS_URL'] ?? '',
    name: 'probe',
    prefix: env.settings['NATS_SUBJECT_PREFIX'],
    logger: env.logger,
    actors: env.actors,
  };
  const [serving, calling] = await Promise.all([connectBus(settings), connectBus(settings)]);
  const state = { cancelled: 0, waiting: 0 };
  let waiters = Promise.withResolvers<void>();
  const release = (): void => {
    waiters.resolve();
    waiters = Promise.withResolvers<void>();
  };
  await serving.serve(contract, {
    echo: (request) => {
      const { outcome, ...rest } = request as { outcome?: string };
      const body = rawJson(JSON.stringify(rest));
      return Promise.resolve(outcome === undefined ? body : withOutcome(body, outcome));
    },
    fail: (request) => {
      const { code, reason, details } = request as {
        code: ErrorCode | 'fault';
        reason?: string;
        details?: Record<string, unknown>;
      };
      if (code === 'fault') throw new Error('secret of the fault');
      if (reason !== undefined) throw appError(code, reason, 'as asked', details);
      throw new AppError({ code, message: 'as asked', ...(details === undefined ? {} : { details }) });
    },
    wait: async (request) => {
      state.waiting++;
      await Promise.race([sleep((request as { ms: number }).ms, undefined, { ref: false }), waiters.promise]);
      state.waiting--;
      return { done: true };
    },
    stream: (request) => {
      const { kib, broken } = request as { kib: number; broken?: boolean };
      const source = produce(kib, broken === true);
      const watched = (async function* () {
        let complete = false;
        try {
          yield* source;
          complete = true;
        } finally {
          if (!complete) state.cancelled++;
        }
      })();
      return Promise.resolve(broken === true ? byteStream(watched) : jsonStream(watched));
    },
  });
  const refusals: Refusal[] = [];
  const refused = (reason: Refusal): void => void refusals.push(reason);
  const app = createApp({
    logger: env.logger,
    apiVersion: '9.9',
    corsAllowedOrigins: ['https://app.example.org'],
    corsAllowedHeaders: ['content-type', 'X-Probe', 'x-probe'],
    trustedProxyHops: 0,
    refused,
  });
  mountRoutes(app, routes, {
    authenticate: createAuthenticate({
      isSharedToken: createSecretCheck([token]),
      isGateKey: createSecretCheck(['gate']),
      credentials: [],
      consoleSessions: { matches: () => false, verify: () => Promise.reject(new Error('there are none')) },
      refuseLogin: () => Promise.resolve(),
    }),
    callRaw: (operation, request, call) => calling.callRaw(operation, request, call),
    handlers: {},
    maxInFlight: options.maxInFlight ?? 100,
  });
  const server = createHttpServer(app.callback(), {
    apiVersion: '9.9',
    portName: 'PORT',
    maxConnections: options.maxConnections ?? 1_000,
    isAnonymous: ({ headers }) => headers.authorization === undefined,
    refused,
  });
  const port = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    port,
    state,
    /** Errors with which guards rejected requests, in order. */
    refusals,
    serving,
    call: createCall(port),
    /** Ends all requests that are waiting now. */
    release,
    /**
     * Stops the fixture. Aborts running requests after `drainMs`; requests that wait in the fixture service end when
     * that service stops.
     */
    stop: async (drainMs = 1_000) => {
      await server.drain({ windowMs: 0, deadlineMs: drainMs });
      release();
      await Promise.all([serving.close(), calling.close()]);
      await env.stop();
    },
  };
}

export interface ReplyBody {
  detail: { type: string; loc: (string | number)[] }[];
  code: string;
  retryable: boolean;
  token_type: string;
  ids: number[];
  at: string;
  infos: { a: string };
}

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** Body as JSON with the fields that tests check; all fields are undefined when the body is not JSON. */
  json: ReplyBody;
  /** False when the connection was closed before the end of the body. */
  complete: boolean;
}

export interface Call {
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  json?: unknown;
  auth?: string | null;
}

/** Sends one request byte for byte as written, without a client library that corrects paths, headers or bodies. */
export function createCall(port: number): (method: string, path: string, call?: Call) => Promise<Reply> {
  return (method, path, { headers = {}, body, json, auth = `Bearer ${token}` } = {}) =>
    new Promise((resolve, reject) => {
      const payload = json === undefined ? body : JSON.stringify(json);
      const request = startRequest(
        {
          port,
          method,
          path,
          headers: { ...(auth === null ? {} : { authorization: auth }), ...headers },
          agent: false,
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', () => undefined);
          response.once('close', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            let parsed: unknown;
            try {
              parsed = JSON.parse(text);
            } catch {
              parsed = undefined;
            }
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text,
              json: parsed as ReplyBody,
              complete: response.complete,
            });
          });
        },
      );
      request.once('error', reject);
      if (payload !== undefined) request.setHeader('content-length', Buffer.byteLength(payload));
      request.end(payload);
    });
}
