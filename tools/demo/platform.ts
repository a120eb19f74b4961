/**
 * Calls the public HTTP API of the running platform for the demo, and finds the addresses for simulated third-party
 * servers.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { demoValues, listSecretValues } from '#libs/infrastructure/config';
import { reachableAddress } from '#libs/infrastructure/lifecycle';
import { readSettings } from '../../cli/settings.ts';

/** Ends the demo with a message that says what to do. */
export class DemoError extends Error {}

export interface DemoPlatform {
  readonly baseUrl: string;
  readonly apiToken: string;
  readonly loginSecret: string;
  /** Password of the accounts of the demo workspace. */
  readonly password: string;
  /** Secret that signs the booking; undefined = the platform accepts unsigned bookings. */
  readonly bookingSecret: string | undefined;
  /** Address at which the platform expects the meeting provider; the demo simulates it there. */
  readonly provider: { readonly port: number; readonly token: string };
  /** Address at which the platform expects a simulated language model; undefined = another one is configured. */
  readonly model: { readonly port: number; readonly key: string } | undefined;
}

/**
 * Returns the running platform. @throws DemoError if no platform is running, or if its meeting provider cannot be
 * simulated here
 */
export function findPlatform(): DemoPlatform {
  const settings = readSettings();
  const { DEMO_PROVIDER_PORT: providerPort, DEMO_PASSWORD: password } = settings;
  const firstOf = (name: string): string | undefined => listSecretValues(settings[name] ?? '')[0];
  const [apiToken, loginSecret] = [firstOf('API_TOKEN'), firstOf('API_LOGIN_SECRET')];
  if (apiToken === undefined || loginSecret === undefined) {
    throw new DemoError(
      'No platform runs in this folder. Start it in another terminal with `npm start`, then run `npm run demo` again.',
    );
  }
  if (!providerPort) {
    throw new DemoError(
      'This platform is configured for a real meeting provider (REALTIMEKIT_BASE_URL), whose part the demo cannot play.\n' +
        'Start it without that variable and run `npm run demo` again.',
    );
  }
  return {
    baseUrl:
      settings['DEMO_BASE_URL'] ??
      `http://${reachableAddress(settings['HOST'] ?? '127.0.0.1', settings['PORT'] ?? '8080')}`,
    apiToken,
    loginSecret,
    password: password ?? demoValues.DEMO_PASSWORD,
    bookingSecret: firstOf('BOOKING_WEBHOOK_SECRET'),
    provider: { port: Number(providerPort), token: settings['REALTIMEKIT_API_TOKEN'] ?? '' },
    model: settings['DEMO_MODEL_PORT']
      ? { port: Number(settings['DEMO_MODEL_PORT']), key: settings['LLM_API_KEY'] ?? '' }
      : undefined,
  };
}

export interface Answer {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
  text: string;
  /** Undefined if the body is not JSON. */
  json: unknown;
}

export interface Request {
  /** Bearer token; default: the shared token. Null sends no token. */
  token?: string | null;
  headers?: Record<string, string>;
  json?: unknown;
  body?: FormData;
  /** Expected status; any other ends the demo. Default 200. */
  expect?: number;
}

/** @throws DemoError if the platform is unreachable or returns an unexpected status */
export async function callApi(
  platform: DemoPlatform,
  method: string,
  path: string,
  request: Request = {},
): Promise<Answer> {
  const { token = platform.apiToken, headers = {}, json, body, expect = 200 } = request;
  const init: RequestInit = {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(json === undefined ? (body === undefined ? {} : { body }) : { body: JSON.stringify(json) }),
  };
  const response = await fetch(`${platform.baseUrl}${path}`, init).catch((error: unknown) => {
    throw new DemoError(`The platform at ${platform.baseUrl} does not answer: ${describe(error)}`);
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  if (response.status !== expect) {
    throw new DemoError(
      `${method} ${path} was answered with ${response.status} instead of ${expect}:\n${text.slice(0, 500)}`,
    );
  }
  return { status: response.status, headers: response.headers, bytes, text, json: parse(text) };
}

/** Repeats `attempt` until it returns a value, and returns that value. @throws DemoError after `timeoutMs` */
export async function waitUntil<T>(what: string, timeoutMs: number, attempt: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (Date.now() > deadline)
      throw new DemoError(`Waited ${timeoutMs / 1000} s for ${what}, in vain. The services' logs are in .data/logs.`);
    await sleep(200);
  }
}

function describe(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
