/** Chats with agents in the hands of operators (H1 to H5). */
import { nullable, route, Type } from '#libs/contract';
import { maxChatBodyCharacters, messageProperties, threadProperties } from '#services/agents';
import { badCursor, limitOf, page, pageOf } from './filters.ts';

const root = '/api/ops/threads';

const account = Type.Object({
  id: Type.Integer(),
  email: nullable(Type.String({ description: 'As long as there is such an account.' })),
});
const thread = Type.Object({
  ...threadProperties,
  taken_by: nullable(
    Type.Object(
      {
        account: nullable(account),
        since: Type.String({ format: 'date-time', description: 'When it was taken.' }),
      },
      { description: 'Who has it in the place of the agent; without an account whoever uses the admin CLI. Null = the agent answers.' },
    ),
  ),
});
const message = Type.Object({
  ...messageProperties,
  author: Type.Object(
    { kind: Type.Enum(['visitor', 'agent', 'operator']), account: nullable(account) },
    { description: 'Who wrote it; an operator without an account used the admin CLI.' },
  ),
});

const params = Type.Object({ thread_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Id of the thread.' }) });
const noThread = { not_found: { code: 'not_found', when: 'The thread does not exist.' } } as const;
const taken = { thread_taken: { code: 'conflict', when: 'Somebody else has the thread; `taken_by` says who.' } } as const;
const nothing = { schema: Type.Object({}), optional: true };

export const threadRoutes = [
  route({
    method: 'GET',
    path: root,
    operationId: 'listThreads',
    tag: 'operations',
    summary: 'List chats with agents',
    description: 'Those where something was said last first, without what was said.',
    auth: 'ops',
    scope: 'ops:read',
    query: Type.Object({
      agent: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Slug of an agent.' })),
      channel: Type.Optional(threadProperties.channel),
      taken: Type.Optional(Type.Boolean({ description: 'Only those that a person has, or only those that the agent has.' })),
      ...page,
    }),
    handler: 'ops-threads',
    replies: { 200: { description: 'A page of threads.', schema: pageOf(thread) } },
    errors: badCursor,
  }),
  route({
    method: 'GET',
    path: `${root}/{thread_id}`,
    operationId: 'getThread',
    tag: 'operations',
    summary: 'Read a chat with an agent',
    description: 'Its newest messages, oldest first, with who wrote them.',
    auth: 'ops',
    scope: 'ops:read',
    params,
    query: Type.Object({
      before: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Messages before this turn.' })),
      limit: limitOf('Messages'),
    }),
    handler: 'ops-thread',
    etag: true,
    replies: {
      200: {
        description: 'The thread.',
        schema: Type.Object({
          thread,
          messages: Type.Array(message),
          before: nullable(Type.Integer({ description: '`before` of the messages before these; null when there are none.' })),
        }),
      },
    },
    errors: noThread,
  }),
  route({
    method: 'POST',
    path: `${root}/{thread_id}/take`,
    operationId: 'takeThread',
    tag: 'operations',
    summary: 'Take a chat over',
    description:
      'The agent says nothing until the thread is handed back. Of two who take it one has it; taken again by the same account it stays taken.',
    auth: 'ops-act',
    scope: 'ops:write',
    params,
    body: nothing,
    handler: 'ops-take-thread',
    replies: { 200: { description: 'The thread.', schema: Type.Object({ thread }) } },
    errors: { ...noThread, ...taken },
  }),
  route({
    method: 'POST',
    path: `${root}/{thread_id}/message`,
    operationId: 'sayInThread',
    tag: 'operations',
    summary: 'Write in a chat that you have taken over',
    description: 'Recorded as written by your account, shown on the page of the visitor, or sent through the messenger.',
    auth: 'ops-act',
    scope: 'ops:write',
    params,
    headers: Type.Object({
      'Idempotency-Key': Type.Optional(
        Type.String({ minLength: 1, maxLength: 255, pattern: '^[!-~]+$', description: 'The same words under it are one message.' }),
      ),
    }),
    body: {
      schema: Type.Object({
        body: Type.String({ minLength: 1, maxLength: maxChatBodyCharacters, description: 'The message, Markdown allowed. Blank → 400.' }),
      }),
    },
    handler: 'ops-say-in-thread',
    replies: { 200: { description: 'The message.', schema: Type.Object({ message }) } },
    errors: {
      ...noThread,
      ...taken,
      thread_not_taken: { code: 'conflict', when: 'The agent has the thread: take it over first.' },
      empty_message: { code: 'bad_request', when: 'The message is blank.' },
    },
  }),
  route({
    method: 'POST',
    path: `${root}/{thread_id}/hand-back`,
    operationId: 'handThreadBack',
    tag: 'operations',
    summary: 'Hand a chat back to the agent',
    description:
      'Whoever has it, so that none is left to somebody who is away. The agent answers the next message, and knows what was said.',
    auth: 'ops-act',
    scope: 'ops:write',
    params,
    body: nothing,
    handler: 'ops-hand-thread-back',
    replies: { 200: { description: 'The thread.', schema: Type.Object({ thread }) } },
    errors: noThread,
  }),
];
