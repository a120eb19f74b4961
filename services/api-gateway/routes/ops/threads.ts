/** Chats with agents that operators take over (H1 to H5). */
import { nullable, route, Type } from '#libs/infrastructure/contract';
import { maxChatBodyCharacters, messageProperties, threadProperties } from '#services/agents';
import { badCursor, limitOf, page, pageOf } from './filters.ts';

const root = '/api/ops/threads';

const account = Type.Object({
  id: Type.Integer(),
  email: nullable(Type.String({ description: 'Null if the account was deleted.' })),
});
const thread = Type.Object({
  ...threadProperties,
  taken_by: nullable(
    Type.Object(
      {
        account: nullable(account),
        since: Type.String({ format: 'date-time', description: 'Time of the takeover.' }),
      },
      {
        description:
          'Operator who has taken over; without an account if the admin CLI was used. Null if the agent answers.',
      },
    ),
  ),
});
const message = Type.Object({
  ...messageProperties,
  author: Type.Object(
    { kind: Type.Enum(['visitor', 'agent', 'operator']), account: nullable(account) },
    { description: 'Author; an operator without an account used the admin CLI.' },
  ),
});

const params = Type.Object({
  thread_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Id of the thread.' }),
});
const noThread = { not_found: { code: 'not_found', when: 'The thread does not exist.' } } as const;
const taken = {
  thread_taken: { code: 'conflict', when: 'Another operator has taken over the thread; see `taken_by`.' },
} as const;
const nothing = { schema: Type.Object({}), optional: true };

export const threadRoutes = [
  route({
    method: 'GET',
    path: root,
    operationId: 'listThreads',
    tag: 'operations',
    summary: 'List chats with agents',
    description: 'Threads without their messages, last message first.',
    auth: 'ops',
    scope: 'ops:read',
    forChatAgents: true,
    query: Type.Object({
      agent: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Slug of an agent.' })),
      channel: Type.Optional(threadProperties.channel),
      taken: Type.Optional(
        Type.Boolean({
          description: 'True: only threads taken over by a person; false: only threads answered by the agent.',
        }),
      ),
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
    description: 'The newest messages with their authors, oldest first.',
    auth: 'ops',
    scope: 'ops:read',
    forChatAgents: true,
    params,
    query: Type.Object({
      before: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Messages before this turn.' }),
      ),
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
          before: nullable(Type.Integer({ description: '`before` of the previous messages; null if there are none.' })),
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
    summary: 'Take over a chat',
    description:
      'The agent does not reply until the thread is handed back. Only one operator can take over a thread; repeating the request with the same account succeeds.',
    auth: 'ops-act',
    scope: 'ops:write',
    forChatAgents: true,
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
    summary: 'Send a message in a chat that you have taken over',
    description: 'The message is recorded with your account and shown on the chat page or sent through the messenger.',
    auth: 'ops-act',
    scope: 'ops:write',
    forChatAgents: true,
    params,
    headers: Type.Object({
      'Idempotency-Key': Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          pattern: '^[!-~]+$',
          description: 'Repeated requests with the same key and body send one message.',
        }),
      ),
    }),
    body: {
      schema: Type.Object({
        body: Type.String({
          minLength: 1,
          maxLength: maxChatBodyCharacters,
          description: 'The message, Markdown allowed. Blank messages return 400.',
        }),
      }),
    },
    handler: 'ops-say-in-thread',
    replies: { 200: { description: 'The message.', schema: Type.Object({ message }) } },
    errors: {
      ...noThread,
      ...taken,
      thread_not_taken: { code: 'conflict', when: 'The thread is not taken over. Take it over first.' },
      empty_message: { code: 'bad_request', when: 'The message is blank.' },
    },
  }),
  route({
    method: 'POST',
    path: `${root}/{thread_id}/hand-back`,
    operationId: 'handThreadBack',
    tag: 'operations',
    summary: 'Hand a chat back to the agent',
    description: 'Any operator can hand back a thread. The agent replies to the next message with the full history.',
    auth: 'ops-act',
    scope: 'ops:write',
    forChatAgents: true,
    params,
    body: nothing,
    handler: 'ops-hand-thread-back',
    replies: { 200: { description: 'The thread.', schema: Type.Object({ thread }) } },
    errors: noThread,
  }),
];
