/**
 * The Model Context Protocol over HTTP (rules/mcp), in the revision of 2026 and, for clients that begin with `initialize`, those of 2025. Nothing is
 * kept between requests: each is answered by a server of its own, which knows tools and nothing else.
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

/** Text for the model; `isError`: why there is no result, which the model may mend. */
export interface McpResult {
  readonly text: string;
  readonly isError: boolean;
}

/** The tools of who calls. */
export interface McpTools {
  list(): readonly McpTool[];
  /** Never throws. */
  call(name: string, given: Readonly<Record<string, unknown>>): Promise<McpResult>;
}

/** How an answer is written: as JSON, or as a stream of one event. */
export const mcpFormats = { json: 'application/json', events: 'text/event-stream' } as const;
export type McpFormat = keyof typeof mcpFormats;

interface McpRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON-RPC message. */
  readonly message: unknown;
  /** What the client accepts; undefined when it is neither. */
  readonly format: McpFormat | undefined;
}

interface McpAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Absent for a notification and for a client's answer. */
  readonly body: Buffer | undefined;
}

/** The library asks for an address; nobody sees it. */
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
    const library = await import('@modelcontextprotocol/server'); // with the first request: few platforms are asked that way
    const handler = library.createMcpHandler(
      () => serveTools(new library.Server({ name, version }, { capabilities: { tools: {} }, instructions }), tools, library.ProtocolError),
      {
        // Tools change with releases: there is nothing to be told of.
        maxSubscriptions: 0,
        keepAliveMs: 0,
      },
    );
    // The library wants both; which of them it is is decided here.
    const accept = Object.values(mcpFormats).join(', ');
    const request = new Request(address, { method: 'POST', headers: { ...headers, accept }, body: '{}' });
    const response = await handler.fetch(request, { parsedBody: message });
    const text = await response.text();
    if (text === '') return { status: response.status, contentType: mcpFormats.json, body: undefined };
    return write(response.status, explainParams(readAnswer(text, response.headers.get('content-type'))), format);
  };
}

/** A refusal by its status is JSON for every client: none reads events of it. */
function write(status: number, message: unknown, format: McpFormat): McpAnswer {
  const text = JSON.stringify(message);
  const isStream = format === 'events' && status === 200;
  const body = Buffer.from(isStream ? `event: message\ndata: ${text}\n\n` : text, 'utf8');
  return { status, contentType: isStream ? mcpFormats.events : mcpFormats.json, body };
}

function serveTools(server: Server, tools: McpTools, Refused: typeof ProtocolError): Server {
  server.setRequestHandler('tools/list', ({ params }) => {
    // All tools are on one page, so that no cursor is ours.
    if ((params?.cursor ?? '') !== '') throw new Refused(invalidParams, 'Invalid params: there is one page of tools, and no cursor');
    return { tools: tools.list().map((tool) => ({ ...tool, annotations: { readOnlyHint: true, openWorldHint: false } })) };
  });
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { text, isError } = await tools.call(params.name, params.arguments ?? {});
    return { content: [{ type: 'text', text }], isError };
  });
  return server;
}
