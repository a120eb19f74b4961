/**
 * The Model Context Protocol over HTTP (rules/mcp), in the revision of 2026, and those of 2025 for clients that start with `initialize`.
 * Stateless: each request gets its own server.
 */
import type { ProtocolError, Server } from '@modelcontextprotocol/server';
import { explainParams, invalidParams, isResponse, readAnswer, readMessage, refuseParams } from './messages.ts';

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

/** Tools available to the caller. */
export interface McpTools {
  list(): readonly McpTool[];
  /** Never throws. */
  call(name: string, given: Readonly<Record<string, unknown>>): Promise<McpResult>;
}

/** Response format: JSON, or a stream with one event. */
export const mcpFormats = { json: 'application/json', events: 'text/event-stream' } as const;
export type McpFormat = keyof typeof mcpFormats;

interface McpRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON-RPC message. */
  readonly message: unknown;
  /** Accepted format; undefined if the client accepts neither. */
  readonly format: McpFormat | undefined;
}

interface McpAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Absent for notifications and client responses. */
  readonly body: Buffer | undefined;
}

/** The library requires a URL; it is not used. */
const address = 'http://localhost/mcp';

const notAcceptable = {
  jsonrpc: '2.0',
  error: { code: -32_000, message: `Not acceptable: the client must accept ${Object.values(mcpFormats).join(' or ')}` },
  id: null,
};

export function createMcp(server: { readonly name: string; readonly version: string; readonly instructions: string }) {
  const { name, version, instructions } = server;
  return async ({ headers, message: given, format }: McpRequest, tools: McpTools): Promise<McpAnswer> => {
    if (format === undefined) return write(406, notAcceptable, 'json');
    const message = readMessage(given);
    if (isResponse(message)) return { status: 202, contentType: mcpFormats.json, body: undefined };
    const refusal = refuseParams(message);
    if (refusal !== undefined) return write(200, refusal, format);
    const library = await import('@modelcontextprotocol/server'); // loaded on first use: few installations use MCP
    const handler = library.createMcpHandler(
      () => serveTools(new library.Server({ name, version }, { capabilities: { tools: {} }, instructions }), tools, library.ProtocolError),
      {
        // Tools change only with releases, so there are no change notifications.
        maxSubscriptions: 0,
        keepAliveMs: 0,
      },
    );
    // The library requires both; the format is chosen below.
    const accept = Object.values(mcpFormats).join(', ');
    const request = new Request(address, { method: 'POST', headers: { ...headers, accept }, body: '{}' });
    const response = await handler.fetch(request, { parsedBody: message });
    const text = await response.text();
    if (text === '') return { status: response.status, contentType: mcpFormats.json, body: undefined };
    return write(response.status, explainParams(readAnswer(text, response.headers.get('content-type'))), format);
  };
}

/** Errors by status are JSON for all clients; they do not read event streams. */
function write(status: number, message: unknown, format: McpFormat): McpAnswer {
  const text = JSON.stringify(message);
  const isStream = format === 'events' && status === 200;
  const body = Buffer.from(isStream ? `event: message\ndata: ${text}\n\n` : text, 'utf8');
  return { status, contentType: isStream ? mcpFormats.events : mcpFormats.json, body };
}

function serveTools(server: Server, tools: McpTools, Refused: typeof ProtocolError): Server {
  server.setRequestHandler('tools/list', ({ params }) => {
    // All tools fit one page, so every cursor is invalid.
    if ((params?.cursor ?? '') !== '') throw new Refused(invalidParams, 'Invalid params: there is one page of tools, and no cursor');
    return { tools: tools.list().map((tool) => ({ ...tool, annotations: { readOnlyHint: true, openWorldHint: false } })) };
  });
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { text, isError } = await tools.call(params.name, params.arguments ?? {});
    return { content: [{ type: 'text', text }], isError };
  });
  return server;
}
