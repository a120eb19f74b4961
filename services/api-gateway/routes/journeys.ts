/**
 * Conversation events, journey steps and the configuration of their pipeline jobs (rules/discovery#conversation-events,
 * rules/steps#step-configuration; D10, D11, D16b, D18f, D18g).
 */
import { route, Type } from '#libs/infrastructure/contract';
import { ConversationEvent, directory, EventJourney, StepConfig, StepConfigWrite, StepItem } from '#services/directory';

const root = '/api/coherence';
const journeySlug = Type.String({ description: 'Slug of the journey.' });
const stepParams = Type.Object({
  journey_slug: journeySlug,
  step_slug: Type.String({ description: 'Slug of the step.' }),
});
const noStep = { not_found: { code: 'not_found', when: 'The journey or step does not exist.' } } as const;

export const journeyRoutes = [
  route({
    method: 'GET',
    path: `${root}/conversation-events`,
    operationId: 'listConversationEvents',
    tag: 'journeys',
    summary: 'List conversation events',
    description:
      'With `holon_slug` the holon itself, if it is an event, and every event below it at any depth. Ordered by name, then id. Holons of private classes ' +
      'are listed for callers who can see them.',
    auth: 'user',
    scope: 'conversations:read',
    query: Type.Object({ holon_slug: Type.Optional(Type.String({ description: 'Slug of a holon.' })) }),
    rpc: directory.rpcs.listConversationEvents,
    replies: { 200: { description: 'The events.', schema: Type.Array(ConversationEvent) } },
    errors: { not_found: { code: 'not_found', when: 'The holon does not exist or is not visible to the caller.' } },
  }),
  route({
    method: 'GET',
    path: `${root}/conversation-events/{event_slug}/journeys`,
    operationId: 'listEventJourneys',
    tag: 'journeys',
    summary: 'List the conversation journeys of an event',
    description:
      'Journeys attached to the event itself, in the order in which they are attached. An event can have several journeys; none is the default.',
    auth: 'coherence',
    scope: 'conversations:read',
    params: Type.Object({ event_slug: Type.String({ description: 'Slug of the event.' }) }),
    rpc: directory.rpcs.listEventJourneys,
    replies: { 200: { description: 'The journeys.', schema: Type.Array(EventJourney) } },
    errors: {
      not_found: { code: 'not_found', when: 'The conversation event does not exist or is not visible to the caller.' },
    },
  }),
  route({
    method: 'GET',
    path: `${root}/journeys/{journey_slug}/steps`,
    operationId: 'listJourneySteps',
    tag: 'journeys',
    summary: 'List the steps of a journey',
    description: 'In pipeline order, archived steps included, without their configuration.',
    auth: 'coherence',
    scope: 'steps:read',
    params: Type.Object({ journey_slug: journeySlug }),
    rpc: directory.rpcs.listSteps,
    replies: { 200: { description: 'The steps.', schema: Type.Array(StepItem) } },
    errors: { not_found: { code: 'not_found', when: 'The journey does not exist.' } },
  }),
  route({
    method: 'GET',
    path: `${root}/journeys/{journey_slug}/steps/{step_slug}/config`,
    operationId: 'readStepConfig',
    tag: 'journeys',
    summary: "Read the configuration of a step's pipeline job",
    description:
      "Fields allowed by the job's field policy, with the defaults of its model, and the read-only `pipeline_job`. A step without a registered job has " +
      'neither model nor policy: all stored fields are returned.',
    auth: 'coherence',
    scope: 'steps:read',
    params: stepParams,
    rpc: directory.rpcs.readStepConfig,
    etag: true,
    replies: { 200: { description: 'The configuration.', schema: StepConfig } },
    errors: noStep,
  }),
  route({
    method: 'PATCH',
    path: `${root}/journeys/{journey_slug}/steps/{step_slug}/config`,
    operationId: 'patchStepConfig',
    tag: 'journeys',
    summary: "Update the configuration of a step's pipeline job",
    description:
      "Merged recursively, then checked against the job's model; a deleted key falls back to the model's default. Takes effect for every conversation " +
      'processed or retried afterwards. Null for a stored key that the model does not declare deletes it. A rejected write changes nothing.',
    auth: 'coherence',
    scope: 'steps:write',
    params: stepParams,
    body: { schema: StepConfigWrite },
    rpc: directory.rpcs.patchStepConfig,
    toRequest: ({ params: { journey_slug, step_slug }, body }) => ({ journey_slug, step_slug, write: body }),
    replies: { 200: { description: 'The merged configuration, as returned by GET.', schema: StepConfig } },
    errors: noStep,
  }),
];
