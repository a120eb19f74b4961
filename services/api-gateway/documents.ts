/** The three OpenAPI documents, one for each surface (rules/http#live-schema). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Route } from '#libs/contract';
import { buildOpenApi, type OpenApiDocument, type OpenApiExamples } from '#libs/http';
import { releaseVersion } from '#libs/release';
import { apiIntroduction, opsIntroduction, v1Introduction } from './introduction.ts';

/** Descriptions of the tags. */
const tags = {
  conversations: 'Conversations of a person, their room, their recorded step, questions, audio, video and transcript.',
  browse: 'What anybody with a token may see of holons, events, journeys and their conversations.',
  journeys: 'Conversation events, journeys, their steps and the configuration of these.',
  agents: 'Public agents.',
  chat: 'What visitors write to agents, without an account.',
  webhooks: 'Where providers report: bookings, meetings, messages. Everything is answered with 200.',
  auth: 'Login, logout, and who one is.',
  keys: 'Tokens of programs, narrowed to scopes.',
  events: 'What happens, in one order.',
  endpoints: 'Where what happens is sent, signed.',
  search: 'One search over people and holons.',
  people: 'People of the network.',
  holons: 'Groups, events and other entities, in a tree.',
  experiences: 'Holons that participants offer.',
  classes: 'Kinds of holons, with their custom fields and journeys.',
  memberships: 'People in holons, each at a step of a journey.',
  relationships: 'Holons related to holons.',
  notes: 'What was written about people and holons.',
  operations: 'What operators see and do.',
  worklist: 'Who and what is to be followed up.',
};

/** Version of the HTTP contract: `X-Api-Version`. `info.version` is the release instead (rules/operations#releases). */
export const apiVersion = '1.0.0';

/** Settings of each document; the last one is its error format. */
const surfaces = {
  api: { title: 'Coherence API', description: apiIntroduction, surface: 'api' },
  v1: { title: 'Coherence open API', description: v1Introduction, surface: 'v1' },
  ops: { title: 'Coherence operations API', description: opsIntroduction, surface: 'v1' },
} as const;
type Surface = keyof typeof surfaces;

const surfaceOf = ({ path }: Route): Surface => (path.startsWith('/api/v1/') ? 'v1' : path.startsWith('/api/ops/') ? 'ops' : 'api');

export function buildDocument(routes: readonly Route[], surface: Surface): OpenApiDocument {
  return buildOpenApi(
    routes.filter((route) => surfaceOf(route) === surface),
    { version: releaseVersion, license: 'Apache-2.0', tags, examples: readExamples(), ...surfaces[surface] },
  );
}

export function buildDocuments(routes: readonly Route[]): Record<Surface, OpenApiDocument> {
  return { api: buildDocument(routes, 'api'), v1: buildDocument(routes, 'v1'), ops: buildDocument(routes, 'ops') };
}

/** The example story of `story/`, by operation; `npm run fix` writes it. */
function readExamples(): OpenApiExamples {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'examples.json'), 'utf8')) as OpenApiExamples;
}
