/** Operators take threads over from the agent, write in them, and hand them back (H1 to H5); visitors read what they wrote. */
import { byGateway, byOperators, byUsers, event, nullable, rpc, type Static, Type } from '#libs/contract';
import { maxChatBodyCharacters } from '../chat/contract.ts';
import { slug } from '../schemas.ts';

const threadId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Id of the thread.' });
const instant = (description: string) => Type.String({ format: 'date-time', description });
const holder = Type.Object({
  account_id: nullable(Type.Integer({ description: 'Account that has it; null = whoever uses the admin CLI.' })),
  since: instant('When it was taken.'),
});

/** A thread without its words; its key would let whoever reads it go on as the visitor, so it is left out. */
export const threadProperties = {
  id: threadId,
  agent: Type.String({ description: 'Slug of the agent.' }),
  channel: Type.Enum(['web', 'telegram'], { description: 'Where the visitor writes.' }),
  turns: Type.Integer({ description: 'Questions with their answers, and single messages while a person has it.' }),
  waiting: Type.Boolean({ description: "The last word is the visitor's, and nobody has answered it." }),
  created_at: instant('When its first turn was recorded.'),
  updated_at: instant('When something was said last.'),
};
const Thread = Type.Object({ ...threadProperties, taken_by: nullable(holder) });
export type Thread = Static<typeof Thread>;

export const messageProperties = {
  turn: Type.Integer({ description: 'Place in the thread; a question and the answer of the agent share one.' }),
  body: Type.String({ description: 'As it was written, Markdown.' }),
  html: Type.String({ description: 'As HTML of the messaging subset.' }),
  created_at: instant('When it was recorded.'),
  delivery: nullable(
    Type.Enum(['waiting', 'sent', 'unknown', 'failed'], {
      description:
        "Of an operator's words on Telegram; `unknown` = they may or may not have arrived, and are not sent again by themselves. Null for everything else.",
    }),
  ),
};
export const authors = ['visitor', 'agent', 'operator'] as const;
const Message = Type.Object({
  ...messageProperties,
  author: Type.Enum([...authors], { description: 'Who wrote it.' }),
  account_id: nullable(Type.Integer({ description: 'Account of the operator; null for the admin CLI, and for others.' })),
});
export type Message = Static<typeof Message>;

/** Longest time for which a request for updates waits: less than a gateway that stops has for its requests. */
export const maxChatWaitSeconds = 8;

/** What a visitor is told of a person who answers in the place of the agent. */
export const ChatUpdates = Type.Object(
  {
    waits_for: nullable(
      Type.Literal('person', {
        description: 'A person has the conversation and answers in the place of the agent; null = the agent does.',
      }),
    ),
    messages: Type.Array(
      Type.Object({
        operator_html: Type.String({ description: 'What a person wrote, as HTML of the messaging subset.' }),
        created_at: instant('When it was written.'),
      }),
      { description: 'At most 100, oldest first.' },
    ),
    next: Type.Integer({ description: 'For `after`.' }),
  },
  { $id: 'ChatUpdates' },
);

const notFound = { thread_not_found: { code: 'not_found', when: 'There is no such thread.' } } as const;
const taken = { thread_taken: { code: 'conflict', when: 'Somebody else has the thread; `taken_by` says who.' } } as const;
const mayNot = { not_an_operator: { code: 'permission_denied', when: 'The caller may not see or do that.' } } as const;
const notTaken = {
  thread_not_taken: { code: 'conflict', when: 'The agent has the thread: take it over before you write in it.' },
} as const;
const blank = { empty_message: { code: 'bad_request', when: 'The message is blank.' } } as const;

const named = Type.Object({ thread_id: threadId });
const threadReply = Type.Object({ thread: Thread });

const operations = {
  list: {
    summary: 'Threads with agents, those where something was said last first.',
    request: Type.Object({
      agent: Type.Optional(slug),
      channel: Type.Optional(threadProperties.channel),
      taken: Type.Optional(Type.Boolean({ description: 'Only those that a person has, or only those that the agent has.' })),
      before: Type.Optional(Type.Object({ at: Type.String({ format: 'date-time' }), id: threadId })),
      limit: Type.Integer({ minimum: 1, maximum: 201 }),
    }),
    reply: Type.Object({ items: Type.Array(Thread) }),
  },
  read: {
    summary: 'One thread with its newest messages, oldest first. 404 when absent.',
    request: Type.Object({
      thread_id: threadId,
      before: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Messages before this turn.' })),
      limit: Type.Integer({ minimum: 1, maximum: 200 }),
    }),
    reply: Type.Object({
      thread: Thread,
      messages: Type.Array(Message),
      before: nullable(Type.Integer({ description: 'Turn for `before` of the page of earlier messages; null when there are none.' })),
    }),
    errors: notFound,
  },
  take: {
    summary: 'Takes a thread over: the agent is silent until it is handed back. Done twice by one account it is done once.',
    request: named,
    reply: threadReply,
    audit: 'thread.take',
    errors: { ...notFound, ...taken },
  },
  say: {
    summary: "Writes in a thread that the caller has: recorded, and sent where the visitor is. 409 when it is not the caller's.",
    request: Type.Object({
      thread_id: threadId,
      body: Type.String({ minLength: 1, maxLength: maxChatBodyCharacters, description: 'Markdown. Blank → 400.' }),
      idempotency_key: Type.Optional(nullable(Type.String({ description: 'The same words under it are one message.' }))),
    }),
    reply: Type.Object({ message: Message }),
    audit: 'thread.say',
    errors: { ...notFound, ...taken, ...notTaken, ...blank },
  },
  handBack: {
    summary: 'Gives a thread back to the agent, whoever has it. One that nobody has stays as it is.',
    request: named,
    reply: threadReply,
    audit: 'thread.hand-back',
    errors: notFound,
  },
} as const;

export const handoverRpcs = {
  listThreads: rpc({ subject: 'agents.operations.list-threads', callers: byUsers, ...operations.list, errors: mayNot }),
  readThread: rpc({ subject: 'agents.operations.read-thread', callers: byUsers, ...operations.read, errors: { ...notFound, ...mayNot } }),
  takeThread: rpc({
    subject: 'agents.operations.take-thread',
    callers: byUsers,
    ...operations.take,
    errors: { ...operations.take.errors, ...mayNot },
  }),
  sayInThread: rpc({
    subject: 'agents.operations.say-in-thread',
    callers: byUsers,
    ...operations.say,
    errors: { ...operations.say.errors, ...mayNot },
  }),
  handThreadBack: rpc({
    subject: 'agents.operations.hand-thread-back',
    callers: byUsers,
    ...operations.handBack,
    errors: { ...notFound, ...mayNot },
  }),
  adminListThreads: rpc({ subject: 'admin.agents.threads.list', callers: byOperators, ...operations.list }),
  adminReadThread: rpc({ subject: 'admin.agents.threads.read', callers: byOperators, ...operations.read }),
  adminTakeThread: rpc({ subject: 'admin.agents.threads.take', callers: byOperators, ...operations.take }),
  adminSayInThread: rpc({ subject: 'admin.agents.threads.say', callers: byOperators, ...operations.say }),
  adminHandThreadBack: rpc({ subject: 'admin.agents.threads.hand-back', callers: byOperators, ...operations.handBack }),
  readChatUpdates: rpc({
    subject: 'agents.chat.read-updates',
    callers: byGateway,
    summary: 'What operators wrote to a visitor after a turn, oldest first, and whether a person has the thread (H2).',
    request: Type.Object({
      agent_slug: slug,
      visitor_id: Type.String({ maxLength: 200 }),
      after: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
      wait: Type.Optional(
        Type.Integer({ minimum: 0, maximum: maxChatWaitSeconds, description: 'Seconds to wait for something new. 0 = none.' }),
      ),
      waits_for: Type.Optional(nullable(Type.Literal('person', { description: 'As the caller knows it: another value is news.' }))),
      ip: Type.Optional(Type.String({ description: 'What limits count the visitor by; without it there is none.' })),
    }),
    reply: ChatUpdates,
    timeoutMs: 14_000,
  }),
} as const;

export const handoverEvents = {
  threadChanged: event({
    subject: 'events.agents.threads.changed',
    subscribers: ['agents'],
    summary: 'An operator has taken a thread, written in it or handed it back.',
    payload: Type.Object({ thread_id: threadId }),
  }),
} as const;
