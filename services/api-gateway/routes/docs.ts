/**
 * Routes of the live schemas and their pages (rules/http#live-schema). The schemas describe the other routes, not
 * these.
 */
import { route, Type } from '#libs/infrastructure/contract';

const page = { method: 'GET', tag: 'docs', auth: 'none', documented: false } as const;
const ok = (contentType: string) => ({ 200: { description: 'OK', contentType } });

export const docsRoutes = [
  route({
    ...page,
    path: '/api/openapi.json',
    operationId: 'api-schema',
    summary: 'api-schema',
    handler: 'api-schema',
    replies: ok('application/json'),
  }),
  route({
    ...page,
    path: '/api/docs',
    operationId: 'api-docs',
    summary: 'api-docs',
    handler: 'api-docs',
    replies: ok('text/html'),
  }),
  route({
    ...page,
    path: '/api/v1/openapi.json',
    operationId: 'v1-schema',
    summary: 'v1-schema',
    handler: 'v1-schema',
    replies: ok('application/json'),
  }),
  route({
    ...page,
    path: '/api/v1/docs',
    operationId: 'v1-docs',
    summary: 'v1-docs',
    handler: 'v1-docs',
    replies: ok('text/html'),
  }),
  route({
    ...page,
    path: '/api/v1/asyncapi.json',
    operationId: 'v1-events-schema',
    summary: 'v1-events-schema',
    handler: 'v1-events-schema',
    replies: ok('application/json'),
  }),
  route({
    ...page,
    path: '/api/ops/openapi.json',
    operationId: 'ops-schema',
    summary: 'ops-schema',
    handler: 'ops-schema',
    replies: ok('application/json'),
  }),
  route({
    ...page,
    path: '/api/ops/docs',
    operationId: 'ops-docs',
    summary: 'ops-docs',
    handler: 'ops-docs',
    replies: ok('text/html'),
  }),
  route({
    ...page,
    path: '/api/docs/assets/{file}',
    operationId: 'docs-asset',
    summary: 'docs-asset',
    params: Type.Object({ file: Type.String() }),
    handler: 'docs-asset',
    replies: ok('text/javascript'),
  }),
];
