/** Builds the three OpenAPI documents, one for each surface (rules/http#live-schema). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Route } from '#libs/infrastructure/contract';
import { buildOpenApi, type OpenApiDocument, type OpenApiExamples } from '#libs/infrastructure/http';
import { releaseVersion } from '#libs/infrastructure/release';
import { apiIntroduction, opsIntroduction, v1Introduction } from './introduction.ts';
import { describeWebhooks } from './openapi-webhooks.ts';

/** Descriptions of the tags. */
const tags = {
  conversations: 'Conversations with their room state, questions, audio, video and transcript.',
  browse: 'Public metadata of holons, events, journeys and conversations.',
  journeys: 'Conversation events, journeys, and their steps with configuration.',
  agents: 'Public agents.',
  chat: 'Chat of visitors with agents, without an account.',
  webhooks: 'Inbound webhooks of providers: bookings, meetings, messages. Every request returns 200.',
  auth: 'Login, logout, sessions and the current person.',
  keys: 'Service keys for programs, limited to scopes.',
  events: 'The event feed.',
  endpoints: 'Outbound webhooks with signed events.',
  search: 'Search for people and holons.',
  people: 'People of the network.',
  holons: 'Groups, events and other entities, in a tree.',
  experiences: 'Holons that participants offer.',
  accounts: 'Login accounts with their groups and rights, for superusers.',
  spheres: 'Fields of activity that holons can name.',
  classes: 'Kinds of holons, with their custom fields and journeys.',
  memberships: 'Memberships of people in holons, each at a step of a journey.',
  relationships: 'Relationships between holons.',
  notes: 'Notes about people and holons.',
  operations: 'Status and actions for operators.',
  worklist: 'Follow-ups due for memberships and relationships.',
};

/** Version of the HTTP contract, sent as `X-Api-Version`. `info.version` is the release (rules/operations#releases). */
export const apiVersion = '1.0.0';

/** Settings of each document; the last one is the format of its errors. */
const surfaces = {
  api: { title: 'Coherence API', description: apiIntroduction, surface: 'api' },
  v1: { title: 'Coherence open API', description: v1Introduction, surface: 'v1' },
  ops: { title: 'Coherence operations API', description: opsIntroduction, surface: 'v1' },
} as const;
type Surface = keyof typeof surfaces;

const surfaceOf = ({ path }: Route): Surface =>
  path.startsWith('/api/v1/') ? 'v1' : path.startsWith('/api/ops/') ? 'ops' : 'api';

export function buildDocument(routes: readonly Route[], surface: Surface): OpenApiDocument {
  const document = buildOpenApi(
    routes.filter((route) => surfaceOf(route) === surface),
    { version: releaseVersion, license: 'Apache-2.0', tags, examples: readExamples(), ...surfaces[surface] },
  );
  return surface === 'v1' ? { ...document, webhooks: describeWebhooks(document.components.schemas) } : document;
}

export function buildDocuments(routes: readonly Route[]): Record<Surface, OpenApiDocument> {
  return { api: buildDocument(routes, 'api'), v1: buildDocument(routes, 'v1'), ops: buildDocument(routes, 'ops') };
}

/** Returns the examples by operation. `npm run fix` records them from the example story in `story/`. */
function readExamples(): OpenApiExamples {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'examples.json'), 'utf8')) as OpenApiExamples;
}
