/** Journeys of the open API (rules/journeys#journeys). */
import { route, Type } from '#libs/contract';
import { directory, Journey, journeyListQuery } from '#services/directory';

export const journeyV1Routes = [
  route({
    method: 'GET',
    path: '/api/v1/journeys',
    operationId: 'listJourneys',
    tag: 'journeys',
    summary: 'List journeys with usage counts',
    description: 'Ordered by name and id. Filters combine with AND.',
    auth: 'v1',
    scope: 'directory:read',
    query: journeyListQuery,
    rpc: directory.rpcs.listJourneys,
    replies: { 200: { description: 'A page of journeys.', schema: directory.rpcs.listJourneys.reply } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/journeys/{slug}',
    operationId: 'getJourney',
    tag: 'journeys',
    summary: 'Read one journey with its steps',
    auth: 'v1',
    scope: 'directory:read',
    params: Type.Object({ slug: Type.String({ description: 'Slug of the journey.' }) }),
    rpc: directory.rpcs.getJourney,
    etag: true,
    replies: { 200: { description: 'The journey.', schema: Journey } },
    errors: { not_found: { code: 'not_found', when: 'The journey does not exist.' } },
  }),
];
