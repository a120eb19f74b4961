/**
 * The Model Context Protocol over HTTP (rules/mcp), in the revision of 2026 and, for clients that begin with `initialize`, those of 2025. Nothing is
 * kept between requests: each is answered by a server of its own, which knows tools and nothing else.
 */
import type { Server } from '@modelcontextprotocol/server';

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

interface McpRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON-RPC message. */
  readonly message: unknown;
}

interface McpAnswer {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/** The library asks for an address; nobody sees it. */
const address = 'http://localhost/mcp';

export function createMcp(server: { readonly name: string; readonly version: string; readonly instructions: string }) {
  const { name, version, instructions } = server;
  return async ({ headers, message }: McpRequest, tools: McpTools): Promise<McpAnswer> => {
    const library = await import('@modelcontextprotocol/server'); // with the first request: few platforms are asked that way
    const handler = library.createMcpHandler(
      () => serveTools(new library.Server({ name, version }, { capabilities: { tools: {} }, instructions }), tools),
      {
        // Tools change with releases: there is nothing to be told of.
        maxSubscriptions: 0,
        keepAliveMs: 0,
      },
    );
    const response = await handler.fetch(new Request(address, { method: 'POST', headers, body: '{}' }), { parsedBody: message });
    const body = Buffer.from(await response.arrayBuffer());
    return { status: response.status, contentType: response.headers.get('content-type') ?? undefined, body };
  };
}

function serveTools(server: Server, tools: McpTools): Server {
  server.setRequestHandler('tools/list', () => ({
    tools: tools.list().map((tool) => ({ ...tool, annotations: { readOnlyHint: true, openWorldHint: false } })),
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { text, isError } = await tools.call(params.name, params.arguments ?? {});
    return { content: [{ type: 'text', text }], isError };
  });
  return server;
}
