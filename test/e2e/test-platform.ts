/**
 * A running platform as clients see it: only HTTP and the admin CLI are used. Each test file has its own platform with
 * a separate database, subject prefix and bucket.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestEnvironment, runCli, startPlatform, waitFor } from '#libs/product/testing';
import type { Platform, TestEnvironment } from '#libs/product/testing';
import { createClient } from '../../clients/typescript/index.ts';
import type { Client, FindActiveConversationsReply } from '../../clients/typescript/index.ts';
import { runCommand } from '../ask-cli.ts';
import { createOperatorLogin } from '../operator-login.ts';
import { createRecorder } from './contract/recorder.ts';
import type { Recorder } from './contract/recorder.ts';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Body as JSON; undefined when it is not JSON. */
  json: any;
}

export interface Call {
  token?: string | null;
  json?: unknown;
  /** Raw body instead of `json`. */
  body?: string | Uint8Array<ArrayBuffer> | FormData;
  headers?: Record<string, string>;
}

export interface Applied {
  created: number;
  updated: number;
  unchanged: number;
  ids: Record<string, Record<string, number>>;
}

export interface TestPlatform {
  baseUrl: string;
  /** The shared token, which `call` sends by default. `token: null` sends no token. */
  sharedToken: string;
  loginSecret: string;
  /** Sends a raw request, possibly malformed. The response is checked against the served document. */
  call(method: string, path: string, call?: Call): Promise<Answer>;
  /** The typed client with the shared token; its responses are checked as well. */
  client: Client;
  recorder: Recorder;
  /**
   * Runs a SQL statement in the platform's database, for changes that clients cannot make, such as the expiry of a
   * session.
   */
  sql: TestEnvironment['sql'];
  /** Runs a CLI command in another process; with the HTTP APIs as `ask`. */
  cli: Platform['cli'];
  /**
   * Runs a CLI command in the test process and returns its `--json` output. It calls the HTTP APIs as a superuser of its
   * own, unless `logInCli` was called. @throws the error of the command; its property `answer` is the output printed
   * before the error
   */
  ask(...args: string[]): Promise<any>;
  /** Makes `cli` and `ask` call the HTTP APIs with this token. */
  logInCli(token: string): void;
  apply(document: Record<string, unknown>): Promise<Applied>;
  login(email: string, password: string): Promise<string>;
  /** Returns the tables with rows that contain `text`. */
  findInDatabase(text: string): Promise<string[]>;
  /** Returns all logs of the services. */
  readLogs(): Promise<string>;
  /** The services with their processes and settings. */
  runtime: Platform;
  stop(): Promise<void>;
}

export interface TestPlatformOptions {
  /** Services to run; default all. */
  services?: readonly string[];
  /**
   * Runs all services, or these services, in separate processes, for tests that kill or measure a service. Default: all
   * services run in the test process.
   */
  processes?: boolean | readonly string[];
  /** Processes per service. */
  replicas?: number;
  /** Prepares the environment before the services start; the returned settings have precedence. */
  prepare?: (env: TestEnvironment) => Promise<Record<string, string>>;
  /** Folder of the code that the processes run until they are restarted. */
  startedFrom?: string;
}

/** Groups of commands that call no HTTP API, or choose the credential themselves. */
const groupsWithoutHttp = new Set(['backup', 'completion', 'doctor', 'login', 'logout', 'profiles', 'secrets']);

/** Like `fetch`, but its error names the failed request. */
export async function fetchNamed(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    throw new Error(`${init.method ?? 'GET'} ${url.slice(0, 200)} got no answer`, { cause: error });
  }
}

export async function startTestPlatform(
  url: string,
  settings: Record<string, string> = {},
  options: TestPlatformOptions = {},
): Promise<TestPlatform> {
  const env = await createTestEnvironment(url);
  try {
    return await startInside(env, settings, options);
  } catch (error) {
    await env.stop(); // Otherwise the connections of the environment would prevent the test run from ending.
    throw error;
  }
}

async function startInside(
  env: TestEnvironment,
  settings: Record<string, string>,
  options: TestPlatformOptions,
): Promise<TestPlatform> {
  const sharedToken = `shared-${randomBytes(9).toString('base64url')}`;
  const loginSecret = `gate-${randomBytes(9).toString('base64url')}`;
  const prepared = await options.prepare?.(env);
  const runtime = await startPlatform(env, {
    processes: options.replicas !== undefined || (options.processes ?? false),
    ...(options.services === undefined ? {} : { services: options.services }),
    ...(options.replicas === undefined ? {} : { replicas: options.replicas }),
    ...(options.startedFrom === undefined ? {} : { startedFrom: options.startedFrom }),
    overrides: {
      API_TOKEN: sharedToken,
      API_LOGIN_SECRET: loginSecret,
      CORS_ALLOWED_ORIGINS: 'https://app.example.org',
      LOG_LEVEL: 'info',
      ...settings,
      ...prepared,
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'test-platform-'));
  const recorder = await createRecorder(runtime.baseUrl);
  const client = createClient({
    baseUrl: runtime.baseUrl,
    token: sharedToken,
    loginKey: loginSecret,
    fetch: recorder.fetch,
  });

  async function call(
    method: string,
    path: string,
    { token = sharedToken, json, body, headers = {} }: Call = {},
  ): Promise<Answer> {
    const response = await fetchNamed(`${runtime.baseUrl}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? (body === undefined ? {} : { body }) : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = undefined;
    }
    recorder.observe({ method, path, status: response.status, headers: response.headers, text });
    return { status: response.status, headers: response.headers, text, json: parsed };
  }

  const operatorToken = createOperatorLogin(env.sql);
  let chosenToken: string | undefined;
  const logIn = async (): Promise<Record<string, string>> => ({
    COHERENCE_URL: runtime.baseUrl,
    COHERENCE_KEY: chosenToken ?? (await operatorToken()),
  });
  const ask: TestPlatform['ask'] = (...args) => runCommand(runtime.cliSettings, args, logIn);
  const cli: TestPlatform['cli'] = async (...args) => {
    const usesHttp = chosenToken !== undefined || !groupsWithoutHttp.has(args[0] ?? '');
    // Without a database, commands over NATS still run.
    const credential = usesHttp ? await logIn().catch(() => ({})) : {};
    return runCli(args, { ...runtime.cliSettings, ...credential });
  };

  async function apply(document: Record<string, unknown>): Promise<Applied> {
    const file = join(folder, `${randomBytes(6).toString('hex')}.json`);
    await writeFile(file, JSON.stringify(document));
    return ask('workspace', 'apply', file);
  }

  async function login(email: string, password: string): Promise<string> {
    const answer = await call('POST', '/api/v1/auth/login', {
      token: null,
      headers: { 'x-svc-api-key': loginSecret },
      json: { email, password },
    });
    if (answer.status !== 200) throw new Error(`login of ${email}: ${answer.status} ${answer.text}`);
    return (answer.json as { token: string }).token;
  }

  async function findInDatabase(text: string): Promise<string[]> {
    const tables = await env.sql<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await env.sql(`select 1 from ${name} t where position($1 in t::text) > 0 limit 1`, [text]);
      if (rows.length > 0) found.push(name);
    }
    return found;
  }

  async function readLogs(): Promise<string> {
    const logs = join(import.meta.dirname, '..', '..', '.data', 'test-logs', env.id);
    const files = await readdir(logs);
    return (await Promise.all(files.map((file) => readFile(join(logs, file), 'utf8')))).join('\n');
  }

  return {
    baseUrl: runtime.baseUrl,
    sharedToken,
    loginSecret,
    call,
    client,
    recorder,
    sql: env.sql,
    cli,
    ask,
    logInCli: (token) => {
      chosenToken = token;
    },
    apply,
    login,
    findInDatabase,
    readLogs,
    runtime,
    async stop() {
      recorder.keep(env.id);
      await runtime.stop();
      await env.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Repeats `check` until it does not throw. */
export async function eventually(check: () => Promise<void>, timeoutMs?: number): Promise<void> {
  await waitFor(
    async () => {
      await check();
      return true;
    },
    { intervalMs: 50, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
  );
}

/** Returns a workspace with one event, its journey, two people and three accounts. `tag` makes all names unique. */
export function demoWorkspace(
  tag: string,
  steps: unknown[] = [
    { slug: 'first', title: 'First' },
    { slug: 'second', title: 'Second' },
    { slug: 'third', title: 'Third' },
  ],
) {
  return {
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
      {
        slug: `journey-${tag}`,
        name: `Journey ${tag}`,
        description: 'A test journey',
        svc_app: 'coherence',
        object_kind: 'holon',
        applies_to: 'event',
        is_conversation: true,
        texts: { welcome: 'Hello', enter: 'Enter', post: 'Post', goodbyeURL: 'https://example.org/bye' },
        questions: [{ text: 'What matters now?' }, { text: 'What next?' }],
        steps,
      },
    ],
    people: [
      { key: `ada-${tag}`, name: 'Ada', contact: { email: `ada-${tag}@example.org` } },
      { key: `ben-${tag}`, name: 'Ben', contact: { email: `ben-${tag}@example.org` } },
    ],
    accounts: [
      {
        email: `ada-${tag}@example.org`,
        person: `ada-${tag}`,
        password: `secret-of-ada-${tag}`,
        groups: ['coherence_users'],
      },
      { email: `ben-${tag}@example.org`, person: `ben-${tag}`, password: `secret-of-ben-${tag}` },
      { email: `root-${tag}@example.org`, person: `ben-${tag}`, password: `secret-of-root-${tag}`, superuser: true },
    ],
    holons: [
      { slug: `event-${tag}`, name: `Event ${tag}`, class: 'event', parent: null, journeys: [`journey-${tag}`] },
    ],
  };
}

/** Ids of a demo workspace after it was applied. */
export interface Demo {
  tag: string;
  ada: number;
  ben: number;
  event: number;
  journey: string;
}

export async function applyDemo(platform: TestPlatform, tag: string, steps?: unknown[]): Promise<Demo> {
  const { ids } = await platform.apply(demoWorkspace(tag, steps));
  return {
    tag,
    ada: ids['people']?.[`ada-${tag}`] ?? 0,
    ben: ids['people']?.[`ben-${tag}`] ?? 0,
    event: ids['holons']?.[`event-${tag}`] ?? 0,
    journey: `journey-${tag}`,
  };
}

export type ConversationOut = FindActiveConversationsReply['body'][number];

/** Creates an unscheduled conversation of the demo's Ada at `time`. */
export async function createConversation(
  platform: TestPlatform,
  demo: Demo,
  time = '2026-05-01T10:00:00Z',
  person = demo.ada,
): Promise<ConversationOut> {
  const { body } = await platform.client.findActiveConversations({
    query: { person_id: person, journey: demo.journey, time },
  });
  const [conversation] = body;
  if (conversation === undefined) throw new Error('find or create returned no conversation');
  return conversation;
}
