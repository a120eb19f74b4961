/** Conversations in pipeline steps (P5). */
import { jobStates, nullable, route, Type } from '#libs/contract';
import { anyId, badCursor, page, pageOf } from './filters.ts';

const root = '/api/ops/pipelines';
const state = Type.Enum([...jobStates, 'none'], { description: 'Of the job of the step; `none` = there is none.' });

const pipeline = Type.Object({
  conversation_id: Type.Integer(),
  journey: Type.String({ description: 'Slug.' }),
  step: Type.String({ description: 'Slug.' }),
  state,
  since: Type.String({ format: 'date-time', description: 'When the conversation entered the step.' }),
  waiting_for: nullable(Type.String({ description: 'What the job waits for, in words; null when it runs or is done.' })),
  error: nullable(Type.String({ description: 'Of the last attempt that failed.' })),
});

export const pipelineRoutes = [
  route({
    method: 'GET',
    path: root,
    operationId: 'listPipelines',
    tag: 'operations',
    summary: 'List conversations in pipeline steps',
    description:
      'How long they are there, what they wait for, and the last error; those that entered last first. With a `state` a page may have fewer rows than `limit`, and a `next` all the same.',
    auth: 'ops',
    scope: 'ops:read',
    query: Type.Object({
      journey: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Slug of a journey.' })),
      step: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Slug of a step.' })),
      state: Type.Optional(state),
      conversation_id: Type.Optional(anyId('This conversation alone.')),
      ...page,
    }),
    handler: 'ops-pipelines',
    replies: { 200: { description: 'A page of conversations.', schema: pageOf(pipeline) } },
    errors: badCursor,
  }),
  route({
    method: 'POST',
    path: `${root}/{conversation_id}/retry`,
    operationId: 'retryPipeline',
    tag: 'operations',
    summary: 'Run the job of a conversation now',
    description: 'The same job, at once: one that waits, is dead or cancelled. One that runs is left alone. No second one is made.',
    auth: 'ops-act',
    scope: 'ops:write',
    params: Type.Object({ conversation_id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Id of the conversation.' }) }),
    body: { schema: Type.Object({}), optional: true },
    handler: 'ops-retry',
    replies: { 200: { description: 'Where the conversation stands now.', schema: pipeline } },
    errors: {
      not_found: { code: 'not_found', when: 'The conversation does not exist.' },
      no_job: { code: 'conflict', when: 'The conversation is in no pipeline step, or its job was never started or has succeeded.' },
    },
  }),
];
