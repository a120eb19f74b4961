/**
 * The Model Context Protocol over HTTP (rules/mcp): the revision of 2026, and those of 2025 for clients that start with
 * `initialize`. Stateless: each request gets a new server object.
 */
import type { ProtocolError, Server } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';

/** JSON-RPC code for invalid parameters. */
const invalidParams = -32_602;
const internalError = -32_603;

export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown };
}

/** Text for the model; `isError`: a failure that the model can correct. */
export interface McpResult {
  readonly text: string;
  readonly isError: boolean;
}

/** Tools that the caller can use. */
export interface McpTools {
  list(): readonly McpTool[];
  /** Calls a tool. Never throws. */
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<McpResult>;
}

/** Response formats: JSON, or an event stream with one event. */
export const mcpFormats = { json: 'application/json', events: 'text/event-stream' } as const;
export type McpFormat = keyof typeof mcpFormats;

interface McpRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON-RPC message. */
  readonly message: unknown;
  /** Format that the client accepts; undefined if it accepts neither. */
  readonly format: McpFormat | undefined;
}

interface McpResponse {
  readonly status: number;
  readonly contentType: string;
  /** Body of the response; absent for notifications and client responses. */
  readonly body: Buffer | undefined;
}

/** URL that the library requires and does not use. */
const address = 'http://localhost/mcp';

const notAcceptable = {
  jsonrpc: '2.0',
  error: { code: -32_000, message: `Not acceptable: the client must accept ${Object.values(mcpFormats).join(' or ')}` },
  id: null,
};

export function createMcp(server: { readonly name: string; readonly version: string; readonly instructions: string }) {
  const { name, version, instructions } = server;
  return async ({ headers, message: received, format }: McpRequest, tools: McpTools): Promise<McpResponse> => {
    if (format === undefined) return write(406, notAcceptable, 'json');
    const message = readMessage(received);
    if (isResponse(message)) return { status: 202, contentType: mcpFormats.json, body: undefined };
    const rejection = rejectParams(message);
    if (rejection !== undefined) return write(200, rejection, format);
    const library = await import('@modelcontextprotocol/server'); // loaded on first use: few installations use MCP
    const handler = library.createMcpHandler(
      () =>
        serveTools(
          new library.Server({ name, version }, { capabilities: { tools: {} }, instructions }),
          tools,
          library.ProtocolError,
        ),
      {
        // Tools change only with releases, so there are no change notifications.
        maxSubscriptions: 0,
        keepAliveMs: 0,
      },
    );
    // The library requires that clients accept both formats; the actual format is chosen below.
    const accept = Object.values(mcpFormats).join(', ');
    const request = new Request(address, { method: 'POST', headers: { ...headers, accept }, body: '{}' });
    const response = await handler.fetch(request, { parsedBody: message });
    const text = await response.text();
    if (text === '') return { status: response.status, contentType: mcpFormats.json, body: undefined };
    return write(response.status, explainParams(readResponse(text, response.headers.get('content-type'))), format);
  };
}

/** Errors with an HTTP error status are JSON for all clients, because clients do not read event streams then. */
function write(status: number, message: unknown, format: McpFormat): McpResponse {
  const text = JSON.stringify(message);
  const isStream = format === 'events' && status === 200;
  const body = Buffer.from(isStream ? `event: message\ndata: ${text}\n\n` : text, 'utf8');
  return { status, contentType: isStream ? mcpFormats.events : mcpFormats.json, body };
}

function serveTools(server: Server, tools: McpTools, Refused: typeof ProtocolError): Server {
  server.setRequestHandler('tools/list', ({ params }) => {
    // All tools fit one page, so every cursor is invalid.
    if ((params?.cursor ?? '') !== '')
      throw new Refused(invalidParams, 'Invalid params: there is one page of tools, and no cursor');
    return {
      tools: tools.list().map((tool) => ({ ...tool, annotations: { readOnlyHint: true, openWorldHint: false } })),
    };
  });
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { text, isError } = await tools.call(params.name, params.arguments ?? {});
    return { content: [{ type: 'text', text }], isError };
  });
  return server;
}

/** Normalizes a message: `1.0` becomes an integer, and null parameters count as absent. */
function readMessage(received: unknown): unknown {
  const message: unknown = JSON.parse(JSON.stringify(received));
  if (!isJsonObject(message)) return message;
  const { params, ...rest } = message;
  if (params === undefined || params === null) return rest;
  return isJsonObject(params)
    ? { ...rest, params: Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null)) }
    : message;
}

/**
 * Returns whether the message is a response from a client. The server sends no requests, so such a message is ignored.
 */
function isResponse(message: unknown): boolean {
  return isJsonObject(message) && message['method'] === undefined && ('result' in message || 'error' in message);
}

/** Returns an error response if the parameters are not an object; undefined for other messages. */
function rejectParams(message: unknown): JsonObject | undefined {
  if (
    !isJsonObject(message) ||
    message['id'] === undefined ||
    message['params'] === undefined ||
    isJsonObject(message['params'])
  )
    return undefined;
  return {
    jsonrpc: '2.0',
    id: message['id'],
    error: { code: invalidParams, message: 'Invalid params: params must be an object' },
  };
}

/** Reads the single message of the library's response, which is JSON or an event stream. */
function readResponse(text: string, contentType: string | null): unknown {
  if (contentType?.startsWith('text/event-stream') !== true) return JSON.parse(text);
  const lines = text.split('\n').filter((line) => line.startsWith('data:'));
  return JSON.parse(lines.at(-1)?.slice('data:'.length) ?? 'null');
}

/** Converts the library's parameter errors, which are server errors or JSON in the message, to readable messages. */
function explainParams(response: unknown): unknown {
  if (!isJsonObject(response) || !isJsonObject(response['error'])) return response;
  const { code, message } = response['error'];
  if ((code !== invalidParams && code !== internalError) || typeof message !== 'string') return response;
  const problems = readProblems(message);
  if (problems === undefined) return response;
  return { ...response, error: { code: invalidParams, message: `Invalid params: ${problems.join('; ')}` } };
}

interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

function readProblems(message: string): string[] | undefined {
  const start = message.indexOf('[');
  if (start === -1) return undefined;
  try {
    const problems = JSON.parse(message.slice(start)) as Problem[];
    return problems.map((problem) => `${problem.path.join('.')}: ${problem.message.replace(/^Invalid input: /, '')}`);
  } catch {
    return undefined;
  }
}
