/** One client: sends a request, records the answer, pauses, and repeats. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch, type RequestInit } from 'undici';
import type { Entry, History, Input, Outcome } from './history.ts';
import type { ChaosPlatform } from './platform.ts';
import type { Random } from './random.ts';

export interface Request {
  readonly kind: string;
  readonly object: string;
  readonly input: Input;
  readonly method: string;
  readonly path: string;
  readonly json?: unknown;
  readonly body?: RequestInit['body'];
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the shared token; null sends no token. */
  readonly token?: string | null;
  /** Extracts the data that the model compares from the answer. */
  readonly read?: (body: Buffer) => unknown;
}

export interface Requested {
  readonly outcome: Outcome;
  readonly output: unknown;
  /** Parsed body of a JSON answer. */
  readonly json: unknown;
}

export interface Client {
  readonly number: number;
  readonly random: Random;
  readonly target: ChaosPlatform;
  readonly isOver: () => boolean;
  sendRequest(request: Request): Promise<Requested>;
  /** Repeats the request until the outcome is known or the run ends. */
  insist(request: Request): Promise<Requested>;
  close(): Promise<void>;
}

/** Longer than the gateway's deadline. */
const requestTimeoutMs = 20_000;
/** Delay between repeated attempts. */
const againMs = 250;
const statusesOfRefusal = { from: 400, to: 499 };
/** Statuses after which the outcome is unknown, because the request was rate limited or is still in progress. */
const passing = new Set([408, 409, 425, 429]);

export function createClient(options: {
  number: number;
  random: Random;
  target: ChaosPlatform;
  history: History;
  isOver: () => boolean;
}): Client {
  const { history, target } = options;
  const dispatcher = new Agent({ connections: 1, pipelining: 1 });

  async function send({
    method,
    path,
    json,
    body,
    headers,
    token = target.token,
  }: Request): Promise<{ status: number; bytes: Buffer }> {
    const response = await fetch(`${target.platform.baseUrl}${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? (body === undefined ? {} : { body }) : { body: JSON.stringify(json) }),
      signal: AbortSignal.timeout(requestTimeoutMs),
      dispatcher,
    });
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  }

  async function sendRequest(request: Request): Promise<Requested> {
    const { kind, object, input, read } = request;
    const from = history.now();
    const note = (outcome: Outcome, answer: string, output?: unknown): void => {
      const reply: Omit<Entry, 'id'> = { kind, object, input, outcome, from, to: history.now(), answer };
      history.add(output === undefined ? reply : { ...reply, output });
    };
    try {
      const { status, bytes } = await send(request);
      const outcome = checkHistory(status);
      const output = outcome === 'done' ? read?.(bytes) : undefined;
      note(outcome, outcome === 'done' ? `${status}` : `${status} ${bytes.toString().slice(0, 160)}`, output);
      return { outcome, output, json: parse(bytes) };
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
      note('unknown', `${(error as Error).message}${cause}`);
      return { outcome: 'unknown', output: undefined, json: undefined };
    }
  }

  return {
    ...options,
    sendRequest,
    insist: async (request) => {
      for (;;) {
        const requested = await sendRequest(request);
        if (requested.outcome !== 'unknown' || options.isOver()) return requested;
        await sleep(againMs);
      }
    },
    close: () => dispatcher.destroy(),
  };
}

function checkHistory(status: number): Outcome {
  if (status >= 200 && status < 300) return 'done';
  if (status < statusesOfRefusal.from || status > statusesOfRefusal.to || passing.has(status)) return 'unknown';
  return 'refused';
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
