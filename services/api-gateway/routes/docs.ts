/** The live schemas and their pages (rules/http#live-schema). They describe the other routes, not themselves. */
import { route, type Route } from '#libs/contract';
import { Type } from '#libs/contract';

const page = (path: string, operationId: string, handler: string, contentType: string): Route =>
  route({
    method: 'GET',
    path,
    operationId,
    tag: 'docs',
    summary: operationId,
    auth: 'none',
    documented: false,
    handler,
    replies: { 200: { description: 'OK', contentType } },
  });

export const docsRoutes: Route[] = [
  page('/api/openapi.json', 'api-schema', 'api-schema', 'application/json'),
  page('/api/docs', 'api-docs', 'api-docs', 'text/html'),
  page('/api/v1/openapi.json', 'v1-schema', 'v1-schema', 'application/json'),
  page('/api/v1/docs', 'v1-docs', 'v1-docs', 'text/html'),
  {
    ...page('/api/docs/assets/{file}', 'docs-asset', 'docs-asset', 'text/javascript'),
    params: Type.Object({ file: Type.String() }),
  },
];
