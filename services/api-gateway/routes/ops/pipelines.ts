/** Conversations in pipeline steps (P5). */
import { jobStates, nullable, route, Type } from '#libs/infrastructure/contract';
import { anyId, badCursor, page, pageOf } from './filters.ts';

const root = '/api/ops/pipelines';
const state = Type.Enum([...jobStates, 'none'], {
  description: 'State of the job of the step; `none` if it has no job.',
});

const pipeline = Type.Object({
  conversation_id: Type.Integer(),
  journey: Type.String({ description: 'Slug.' }),
  step: Type.String({ description: 'Slug.' }),
  state,
  since: Type.String({ format: 'date-time', description: 'When the conversation entered the step.' }),
  waiting_for: nullable(
    Type.String({ description: 'Reason for waiting, as text; null if the job is running or finished.' }),
  ),
  error: nullable(Type.String({ description: 'Error of the last failed attempt.' })),
});

export const pipelineRoutes = [
  route({
    method: 'GET',
    path: root,
    operationId: 'listPipelines',
    tag: 'operations',
    summary: 'List conversations in pipeline steps',
    description:
      'With the time they entered the step, what they wait for and the last error; newest first. With a `state`, a page can have fewer rows than `limit` and still have a `next`.',
    auth: 'ops',
    scope: 'ops:read',
    query: Type.Object({
      journey: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Slug of a journey.' })),
      step: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Slug of a step.' })),
      state: Type.Optional(state),
      conversation_id: Type.Optional(anyId('Only this conversation.')),
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
    description:
      'Runs the waiting, dead or cancelled job of the conversation immediately. A running job is not changed. No second job is created.',
    auth: 'ops-act',
    scope: 'ops:write',
    params: Type.Object({
      conversation_id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Id of the conversation.' }),
    }),
    body: { schema: Type.Object({}), optional: true },
    handler: 'ops-retry',
    replies: { 200: { description: 'The current state of the conversation.', schema: pipeline } },
    errors: {
      not_found: { code: 'not_found', when: 'The conversation does not exist.' },
      no_job: {
        code: 'conflict',
        when: 'The conversation is not in a pipeline step, or its job was never started or has succeeded.',
      },
    },
  }),
];
