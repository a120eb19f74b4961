/**
 * Takeovers: operators answer threads instead of the agent and return them to the agent (H1 to H5); visitors read the
 * operators' messages.
 */
import {
  byGateway,
  byUsers,
  event,
  notAnOperator,
  nullable,
  rpc,
  type Static,
  Type,
} from '#libs/infrastructure/contract';
import { maxChatBodyCharacters } from '../chat/contract.ts';
import { slug } from '../agent/contract.ts';

const threadId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Id of the thread.' });
const instant = (description: string) => Type.String({ format: 'date-time', description });
const holder = Type.Object({
  account_id: nullable(Type.Integer({ description: 'Account of the operator; null = admin CLI.' })),
  since: instant('When the thread was taken.'),
});

/** Fields of a thread, without its messages. The key is omitted, since it grants access as the visitor. */
export const threadProperties = {
  id: threadId,
  agent: Type.String({ description: 'Slug of the agent.' }),
  channel: Type.Enum(['web', 'telegram'], { description: 'Where the visitor writes.' }),
  turns: Type.Integer({
    description: 'Number of turns: a message with its reply, or a single message during a takeover.',
  }),
  waiting: Type.Boolean({ description: 'The last message is from the visitor and has no reply.' }),
  created_at: instant('When its first turn was recorded.'),
  updated_at: instant('Time of the last message.'),
};
const Thread = Type.Object({ ...threadProperties, taken_by: nullable(holder) });
export type Thread = Static<typeof Thread>;

export const messageProperties = {
  turn: Type.Integer({ description: 'Position in the thread. A message and its reply by the agent share one.' }),
  body: Type.String({ description: 'Markdown as received.' }),
  html: Type.String({ description: 'As HTML of the messaging subset.' }),
  created_at: instant('When it was recorded.'),
  delivery: nullable(
    Type.Enum(['waiting', 'sent', 'unknown', 'failed'], {
      description:
        "State of an operator's message on Telegram; null for all others. `unknown` = it may have arrived and is not sent again automatically.",
    }),
  ),
};
export const authors = ['visitor', 'agent', 'operator'] as const;
const Message = Type.Object({
  ...messageProperties,
  author: Type.Enum([...authors], { description: 'Author.' }),
  account_id: nullable(
    Type.Integer({ description: 'Account of the operator; null for the admin CLI and other authors.' }),
  ),
});
export type Message = Static<typeof Message>;

/** Maximum duration of a long poll in seconds; shorter than the gateway's grace period for running requests. */
export const maxChatWaitSeconds = 8;

/** Messages of operators for a visitor. */
export const ChatUpdates = Type.Object(
  {
    waits_for: nullable(
      Type.Literal('person', {
        description: '`person` = an operator answers instead of the agent; null = the agent answers.',
      }),
    ),
    messages: Type.Array(
      Type.Object({
        operator_html: Type.String({ description: 'Message of an operator, as HTML of the messaging subset.' }),
        created_at: instant('When it was written.'),
      }),
      { description: 'At most 100, oldest first.' },
    ),
    next: Type.Integer({ description: 'Value of `after` for the next request.' }),
  },
  { $id: 'ChatUpdates' },
);

const notFound = { thread_not_found: { code: 'not_found', when: 'The thread does not exist.' } } as const;
const threadTaken = {
  thread_taken: { code: 'conflict', when: 'Another operator has taken the thread; see `taken_by`.' },
} as const;
const threadNotTaken = {
  thread_not_taken: { code: 'conflict', when: 'The agent answers the thread. Take it over before writing in it.' },
} as const;
const emptyMessage = { empty_message: { code: 'bad_request', when: 'The message is blank.' } } as const;

const byThreadId = Type.Object({ thread_id: threadId });
const threadReply = Type.Object({ thread: Thread });

export const handoverRpcs = {
  listThreads: rpc({
    subject: 'agents.operations.list-threads',
    callers: byUsers,
    summary: 'Threads with agents, most recently active first.',
    request: Type.Object({
      agent: Type.Optional(slug),
      channel: Type.Optional(threadProperties.channel),
      taken: Type.Optional(
        Type.Boolean({ description: 'true: only taken threads; false: only threads answered by the agent.' }),
      ),
      before: Type.Optional(Type.Object({ at: Type.String({ format: 'date-time' }), id: threadId })),
      limit: Type.Integer({ minimum: 1, maximum: 201 }),
    }),
    reply: Type.Object({ items: Type.Array(Thread) }),
    errors: notAnOperator,
  }),
  readThread: rpc({
    subject: 'agents.operations.read-thread',
    callers: byUsers,
    summary: 'One thread with its newest messages, oldest first. 404 if it does not exist.',
    request: Type.Object({
      thread_id: threadId,
      before: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Messages before this turn.' }),
      ),
      limit: Type.Integer({ minimum: 1, maximum: 200 }),
    }),
    reply: Type.Object({
      thread: Thread,
      messages: Type.Array(Message),
      before: nullable(Type.Integer({ description: 'Value of `before` for earlier messages; null on the last page.' })),
    }),
    errors: { ...notFound, ...notAnOperator },
  }),
  takeThread: rpc({
    subject: 'agents.operations.take-thread',
    callers: byUsers,
    summary: 'Takes a thread over: the agent does not reply until it is handed back. Idempotent per account.',
    request: byThreadId,
    reply: threadReply,
    audit: 'thread.take',
    errors: { ...notFound, ...threadTaken, ...notAnOperator },
  }),
  sayInThread: rpc({
    subject: 'agents.operations.say-in-thread',
    callers: byUsers,
    summary:
      "Writes in a thread the caller has taken. The message is recorded and sent to the visitor's channel. 409 if the caller has not taken it.",
    request: Type.Object({
      thread_id: threadId,
      body: Type.String({ minLength: 1, maxLength: maxChatBodyCharacters, description: 'Markdown. Blank → 400.' }),
      idempotency_key: Type.Optional(
        nullable(Type.String({ description: 'Repetitions with the same key and text create one message.' })),
      ),
    }),
    reply: Type.Object({ message: Message }),
    audit: 'thread.say',
    errors: { ...notFound, ...threadTaken, ...threadNotTaken, ...emptyMessage, ...notAnOperator },
  }),
  handThreadBack: rpc({
    subject: 'agents.operations.hand-thread-back',
    callers: byUsers,
    summary: 'Hands a thread back to the agent, regardless of who has taken it. Idempotent.',
    request: byThreadId,
    reply: threadReply,
    audit: 'thread.hand-back',
    errors: { ...notFound, ...notAnOperator },
  }),
  readChatUpdates: rpc({
    subject: 'agents.chat.read-updates',
    callers: byGateway,
    summary:
      'Messages of operators to a visitor after a turn, oldest first, and whether an operator has taken the thread (H2).',
    request: Type.Object({
      agent_slug: slug,
      visitor_id: Type.String({ maxLength: 200 }),
      after: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
      wait: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: maxChatWaitSeconds,
          description: 'Seconds to wait for a change; 0 = return immediately.',
        }),
      ),
      waits_for: Type.Optional(
        nullable(
          Type.Literal('person', { description: 'State known to the caller. A different state ends the wait.' }),
        ),
      ),
      ip: Type.Optional(Type.String({ description: 'Address for rate limits; without it there are none.' })),
    }),
    reply: ChatUpdates,
    timeoutMs: 14_000,
  }),
} as const;

export const handoverEvents = {
  threadChanged: event({
    subject: 'events.agents.threads.changed',
    subscribers: ['agents'],
    summary: 'An operator took a thread, wrote in it or handed it back.',
    payload: Type.Object({ thread_id: threadId }),
  }),
} as const;
