/**
 * Checks every response of a test against the document served by the same gateway. An undocumented operation, status,
 * content type, header or field fails the test.
 */
import { createHash } from 'node:crypto';
import type { SchemaProblem } from '#libs/infrastructure/schema';
import { keepRecording, noteAnswer, type Recording } from './recordings.ts';
import {
  compileDocumented,
  createLookup,
  type DocumentedOperation,
  fetchDocuments,
  listOperations,
  type Lookup,
  type OpenApi,
} from './served-documents.ts';

export interface Exchange {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** Body; undefined for a file that was not read. */
  readonly text: string | undefined;
}

export interface Recorder {
  readonly operations: readonly DocumentedOperation[];
  /** @throws Error that lists the deviations from the document */
  observe(exchange: Exchange): void;
  /** A `fetch` that observes every response. */
  fetch: typeof fetch;
  /** Writes the observed statuses to the recordings of the test run. */
  keep(name: string): void;
}

/** The endpoints that serve the documents are not documented themselves. */
const undocumented = /^\/api(\/v1|\/ops)?\/(openapi\.json|asyncapi\.json|docs(\/.*)?)$/;
/** The HTTP parser sends these statuses before routing. */
const transportStatuses = new Set([408, 431]);

/**
 * Compiled contracts by document text: most gateways of a worker serve the same documents, so they are compiled once.
 */
const contracts = new Map<string, Contract>();

interface Contract {
  readonly operations: readonly DocumentedOperation[];
  readonly lookup: ReturnType<typeof createLookup>;
  readonly judge: Judge;
}

function readContract(documents: readonly OpenApi[]): Contract {
  const key = createHash('sha256').update(JSON.stringify(documents)).digest('hex');
  const known = contracts.get(key);
  if (known !== undefined) return known;
  const operations = listOperations(documents);
  const contract = { operations, lookup: createLookup(operations), judge: createJudge() };
  contracts.set(key, contract);
  return contract;
}

export async function createRecorder(baseUrl: string): Promise<Recorder> {
  const { operations, lookup, judge } = readContract(await fetchDocuments(baseUrl));
  const recording: Recording = {};

  const observe = (exchange: Exchange): void => {
    const path = exchange.path.split(/[?#]/, 1)[0] ?? '';
    if (undocumented.test(path)) return;
    const found = lookup(exchange.method, path);
    const problems =
      found.kind === 'operation' ? judge(found.operation, exchange) : judgeUnrouted(found, path, exchange);
    if (problems.length > 0) {
      const head = `${exchange.method} ${exchange.path} answered ${exchange.status}, which its document does not allow`;
      throw new Error(
        [head, ...problems.map((problem) => `- ${problem}`), (exchange.text ?? '').slice(0, 500)].join('\n'),
      );
    }
    if (found.kind === 'operation') noteAnswer(recording, found.operation.id, String(exchange.status));
  };

  return {
    operations,
    observe,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const url = new URL(input instanceof Request ? input.url : input);
      const readable = /^(application\/json|text\/)/.test(response.headers.get('content-type') ?? '');
      const text = readable ? await response.clone().text() : undefined;
      const { status, headers } = response;
      observe({ method: init?.method ?? 'GET', path: `${url.pathname}${url.search}`, status, headers, text });
      return response;
    },
    keep: (name) => keepRecording(name, recording),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Checks the response to a request without a documented operation: only 400, 404, 405 and OPTIONS responses are
 * allowed, in the error format of the API.
 */
function judgeUnrouted(found: Lookup, path: string, { method, status, headers, text }: Exchange): string[] {
  if (!path.startsWith('/api')) return [];
  if (method === 'OPTIONS' && status === 204) return [];
  const expected = found.kind === 'path' ? 404 : 405;
  if (status !== expected && !transportStatuses.has(status) && status !== 400)
    return [`no such operation: expected ${expected}`];
  const body = parse(text ?? '') as Record<string, unknown> | undefined;
  const known =
    typeof body?.['detail'] === 'string' || (typeof body?.['code'] === 'string' && /^\/api\/(v1|ops)/.test(path));
  if (method !== 'HEAD' && !known) return ['the body is no error envelope'];
  return headers.get('x-request-id') === null ? ['the header X-Request-Id is missing'] : [];
}

type Check = (value: unknown) => SchemaProblem[];

/** @returns deviations from the document */
type Judge = (operation: DocumentedOperation, exchange: Exchange) => string[];

function createJudge(): Judge {
  const checks = new Map<unknown, Check>();
  const check = (operation: DocumentedOperation, status: number, schema: Record<string, unknown>): Check => {
    const known = checks.get(schema) ?? compileDocumented(schema, operation.components, status < 400);
    checks.set(schema, known);
    return known;
  };
  return (operation, { method, status, headers, text }) => {
    const reply = operation.responses[String(status)];
    if (reply === undefined)
      return transportStatuses.has(status) ? [] : [`the status is not documented for ${operation.id}`];
    const problems = listMissingHeaders(operation, status, headers);
    const empty = text === undefined || text === '';
    if (reply.content === undefined) return empty ? problems : [...problems, 'a body is not documented'];
    if (method === 'HEAD') return problems;
    const given = headers.get('content-type') ?? '';
    const entry = Object.entries(reply.content).find(([documented]) => matchesType(documented, given));
    if (entry === undefined) return [...problems, `the content type "${given}" is not documented`];
    const { schema } = entry[1];
    if (schema === undefined || text === undefined) return problems;
    const value = entry[0] === 'application/json' ? parse(text) : text;
    if (value === undefined) return [...problems, 'the body is no JSON'];
    const found = check(operation, status, schema)(value);
    return [
      ...problems,
      ...found.map(({ path, message, params }) => `/${path.join('/')} ${message} ${JSON.stringify(params)}`),
    ];
  };
}

/** Headers that are only present in special cases. */
const sometimes = new Set(['Deprecation', 'Idempotent-Replayed', 'Link', 'X-Total-Count']);

/**
 * Returns whether the content type is documented. `audio/*` matches every audio type. Parameters such as the charset
 * are compared only if the document has them.
 */
function matchesType(documented: string, given: string): boolean {
  const plain = given.split(';', 1)[0]?.trim() ?? '';
  if (documented.endsWith('/*')) return plain.startsWith(documented.slice(0, -1));
  return documented.includes(';') ? documented === given : documented === plain;
}

function listMissingHeaders(operation: DocumentedOperation, status: number, headers: Headers): string[] {
  const documented = Object.keys(operation.responses[String(status)]?.headers ?? {});
  const needed = documented.filter((name) => !sometimes.has(name));
  return needed.filter((name) => headers.get(name) === null).map((name) => `the header ${name} is missing`);
}
