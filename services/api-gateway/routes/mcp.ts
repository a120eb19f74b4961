/**
 * The Model Context Protocol endpoint for assistants (rules/mcp). Its tools call the public APIs, which the documents
 * describe.
 */
import { route, Type } from '#libs/infrastructure/contract';

export const mcpRoutes = [
  route({
    method: 'POST',
    path: '/mcp',
    operationId: 'mcp',
    tag: 'mcp',
    summary: 'Handle a message of the Model Context Protocol',
    documented: false,
    auth: 'user',
    scope: null,
    body: {
      schema: Type.Object(
        { jsonrpc: Type.Literal('2.0'), method: Type.Optional(Type.String({ maxLength: 200 })) },
        { additionalProperties: true },
      ),
    },
    handler: 'mcp',
    deadlineMs: 60_000,
    replies: { 200: { description: 'The protocol response.' }, 202: { description: 'The notification was accepted.' } },
  }),
];
