/** Operations on stored conversations: operators read and erase them (P9), and they are exported for a person. */
import {
  byUsers,
  changeOrigin,
  notAnOperator,
  nullable,
  rowId,
  rpc,
  Type,
  withoutActor,
} from '#libs/infrastructure/contract';
import { agentNotFound, slug } from '../agent/contract.ts';

const recordedMessage = Type.Object({
  id: Type.Integer(),
  note_type: Type.String({
    description: '`chat_visitor`, `chat_agent` (D34), or `chat_operator` during a takeover (H1).',
  }),
  body: Type.String(),
  html: Type.String(),
  account_id: nullable(Type.Integer({ description: 'Author of a `chat_operator` message; null = admin CLI.' })),
  created_at: Type.String(),
});

const forgotten = Type.Object({
  threads: Type.Integer({ description: 'Threads deleted.' }),
  messages: Type.Integer({ description: 'Messages deleted, including replies.' }),
  facts: Type.Integer({ description: 'Facts deleted, including shared sentences.' }),
});

const forgetRequest = Type.Object({
  slug: Type.Optional(slug),
  all: Type.Optional(Type.Boolean({ description: 'Every thread of the agent `slug`.' })),
  thread_key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 300, description: 'One thread, of any agent without `slug`.' }),
  ),
  visitor_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'A visitor of the chat page, with every agent.' }),
  ),
  telegram_user_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "A Telegram user, with every agent: the private chat, and the user's turns in groups.",
    }),
  ),
});

/** Visitors of the chat page and Telegram users that are one person. */
const people = {
  visitor_ids: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100 }),
  telegram_user_ids: Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 100 }),
};

export const recordRpcs = {
  listAgents: rpc({
    subject: 'agents.operations.list-agents',
    callers: byUsers,
    summary: 'Agents by slug, with numbers of sentences waiting for review.',
    request: Type.Object({
      after: Type.Optional(
        Type.String({ maxLength: 100, description: 'Slug of the last agent of the previous page.' }),
      ),
      limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
    }),
    reply: Type.Object({
      items: Type.Array(
        Type.Object({
          slug: Type.String(),
          name: Type.String(),
          waiting: Type.Integer({ description: 'Sentences waiting for review (D70).' }),
          approved: Type.Integer({ description: 'Approved sentences.' }),
        }),
      ),
    }),
    errors: notAnOperator,
  }),
  getRecord: rpc({
    subject: 'agents.operations.get-record',
    callers: byUsers,
    summary:
      'Stored conversations with an agent, oldest thread first: a page of threads, or of the messages of one thread.',
    request: Type.Object({
      slug,
      thread_key: Type.Optional(Type.String({ maxLength: 300, description: 'Return messages of this thread only.' })),
      thread_id: Type.Optional(
        Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'The thread by its id.' }),
      ),
      after: Type.Optional(
        Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: '`next` of the previous page.' }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1_000, description: 'Threads, or messages of the thread; default 100.' }),
      ),
    }),
    reply: Type.Object({
      agent: Type.Object({
        id: Type.Integer(),
        slug: Type.String(),
        name: Type.String(),
        memory: Type.Object({
          summary: Type.String({ description: 'Knowledge of the agent; `""` if it has none.' }),
          notes: Type.Array(Type.String(), { description: 'Sources of the summary, newest first.' }),
        }),
      }),
      threads: Type.Array(
        Type.Object(
          {
            thread_key: Type.String(),
            created_at: Type.String(),
            updated_at: Type.String(),
            message_count: Type.Integer(),
            messages: Type.Array(recordedMessage, {
              description: 'Oldest first; in a page of threads the newest 200 messages.',
            }),
            memory: Type.Object({
              summary: Type.String(),
              facts: Type.Array(Type.String(), { description: 'What the person said about themselves.' }),
              notes: Type.Array(Type.String(), { description: "Sentences of the thread in the agent's knowledge." }),
              up_to_turn: Type.Integer({ description: 'Last turn included; 0 = none.' }),
            }),
          },
          { $id: 'RecordedThread' },
        ),
      ),
      next: nullable(Type.Integer({ description: 'Value of `after` for the next page; null on the last page.' })),
    }),
    errors: { agent_not_found: agentNotFound, ...notAnOperator },
    timeoutMs: 60_000,
  }),
  forgetThreads: rpc({
    subject: 'agents.operations.forget',
    callers: byUsers,
    audit: 'agent.forget',
    summary:
      'Deletes threads with their messages, facts and everything derived from them: one thread, all threads of an agent, or the conversations of one person with all agents. Succeeds if there are none.',
    request: forgetRequest,
    reply: forgotten,
    errors: {
      agent_not_found: agentNotFound,
      ...notAnOperator,
      ambiguous_selection: {
        code: 'bad_request',
        when: 'Exactly one of `thread_key`, `visitor_id`, `telegram_user_id` and `all` with `slug` is required.',
      },
    },
    timeoutMs: 60_000,
  }),
  erasePerson: rpc({
    subject: 'agents.people.erase',
    callers: { directory: withoutActor },
    audit: 'agent.forget',
    summary:
      "Deletes one person's conversations with all agents, like `agents forget`; a dry run counts their messages. Repeatable.",
    request: Type.Object({ ...people, dry_run: Type.Boolean(), by: changeOrigin }),
    reply: Type.Object({ counts: Type.Object({ messages: Type.Integer() }) }),
    timeoutMs: 60_000,
  }),
  exportPerson: rpc({
    subject: 'agents.people.export',
    callers: { directory: withoutActor },
    summary:
      'One page of the messages of one person with all agents: as visitor, in private chats, questions in groups, and messages as operator.',
    request: Type.Object({
      ...people,
      account_ids: Type.Optional(Type.Array(rowId, { maxItems: 10_000, description: 'Accounts of operators.' })),
      after: Type.Integer({ minimum: 0, description: '`next` of the previous page; 0 for the first.' }),
    }),
    reply: Type.Object({ items: Type.Array(Type.Unknown()), next: Type.Union([Type.Integer(), Type.Null()]) }),
    timeoutMs: 60_000,
  }),
};
