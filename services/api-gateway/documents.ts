/** The two OpenAPI documents, one for each surface (spec 02, Live schemas). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Route } from '#libs/contract';
import { buildOpenApi, type OpenApiDocument, type OpenApiExamples } from '#libs/http';

/** Version of the HTTP contract: `X-Api-Version` and `info.version`. */
export const apiVersion = '1.0.0';

export function buildDocuments(routes: readonly Route[]): { api: OpenApiDocument; v1: OpenApiDocument } {
  const examples = readExamples();
  const isV1 = (route: Route): boolean => route.path.startsWith('/api/v1/');
  return {
    api: buildOpenApi(
      routes.filter((route) => !isV1(route)),
      {
        title: 'Coherence API',
        version: apiVersion,
        description: 'Conversations, agents, visitor chat and webhooks under `/api/`.',
        surface: 'api',
        examples,
      },
    ),
    v1: buildOpenApi(routes.filter(isV1), {
      title: 'Coherence open API',
      version: apiVersion,
      description: 'The network of people and holons for external systems, under `/api/v1/`.',
      surface: 'v1',
      examples,
    }),
  };
}

/** Exchanges that the e2e tests recorded; `npm run fix` writes them. */
function readExamples(): OpenApiExamples {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'examples.json'), 'utf8')) as OpenApiExamples;
}
