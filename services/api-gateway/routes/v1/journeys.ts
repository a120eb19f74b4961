/** Classes and journeys of the open API (rules/journeys). */
import { route, Type } from '#libs/infrastructure/contract';
import { directory, Journey, journeyListQuery, ObjectClassPublic } from '#services/directory';

export const classRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/classes',
    operationId: 'listClasses',
    tag: 'classes',
    summary: 'List the active classes',
    description: 'Ordered by `sort_order` and slug. A holon can have a retired class, which is not in this list.',
    auth: 'v1',
    scope: 'directory:read',
    query: directory.rpcs.listClasses.request,
    rpc: directory.rpcs.listClasses,
    replies: { 200: { description: 'The active classes.', schema: directory.rpcs.listClasses.reply } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/classes/{object_kind}/{slug}',
    operationId: 'getClass',
    tag: 'classes',
    summary: 'Read one active class',
    auth: 'v1',
    scope: 'directory:read',
    params: Type.Object({
      object_kind: Type.String({ description: 'For example `holon`.' }),
      slug: Type.String({ description: 'Slug of the class.' }),
    }),
    rpc: directory.rpcs.getClass,
    etag: true,
    replies: { 200: { description: 'The class.', schema: ObjectClassPublic } },
    errors: { not_found: { code: 'not_found', when: 'The class does not exist or is retired.' } },
  }),
];

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
