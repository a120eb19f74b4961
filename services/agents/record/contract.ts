/** What operators see of the conversations with an agent. */
import { byOperators, byUsers, nullable, rpc, Type } from '#libs/contract';
import { agentNotFound, notAnOperator, slug } from '../schemas.ts';

const recordedMessage = Type.Object({
  id: Type.Integer(),
  note_type: Type.String({ description: '`chat_visitor`, `chat_agent` (D34), or `chat_operator` while a person had the thread (H1).' }),
  body: Type.String(),
  html: Type.String(),
  account_id: nullable(Type.Integer({ description: 'Account that wrote a `chat_operator` message; null = with the admin CLI.' })),
  created_at: Type.String(),
});

const agentList = {
  request: Type.Object({
    after: Type.Optional(Type.String({ maxLength: 100, description: 'Agents whose slug comes behind this one.' })),
    limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
  }),
  reply: Type.Object({
    items: Type.Array(
      Type.Object({
        slug: Type.String(),
        name: Type.String(),
        waiting: Type.Integer({ description: 'Sentences that wait for a decision (D70).' }),
        approved: Type.Integer({ description: 'Sentences that somebody has approved.' }),
      }),
    ),
  }),
};
const listAgents = 'Agents by slug, with the sentences that wait for a decision.';

export const recordRpcs = {
  listAgents: rpc({
    subject: 'agents.operations.list-agents',
    callers: byUsers,
    summary: listAgents,
    ...agentList,
    errors: notAnOperator,
  }),
  adminListAgents: rpc({ subject: 'admin.agents.agents.list', callers: byOperators, summary: listAgents, ...agentList }),
  getRecord: rpc({
    subject: 'admin.agents.record.get',
    callers: byOperators,
    summary:
      'What is stored of the conversations with an agent, oldest thread first, in pages: of threads, or of the messages of one thread.',
    request: Type.Object({
      slug,
      thread_key: Type.Optional(Type.String({ description: 'Only this thread; the pages are of its messages then.' })),
      thread_id: Type.Optional(Type.Integer({ description: 'The same by its number.' })),
      after: Type.Optional(Type.Integer({ minimum: 0, description: '`next` of the page before.' })),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1_000, description: 'Threads, or messages of the one thread; default 100.' }),
      ),
    }),
    reply: Type.Object({
      agent: Type.Object({
        id: Type.Integer(),
        slug: Type.String(),
        name: Type.String(),
        memory: Type.Object({
          summary: Type.String({ description: 'What the agent knows of its subject; `""` when nothing yet.' }),
          notes: Type.Array(Type.String(), { description: 'What the summary is made of, newest first.' }),
        }),
      }),
      threads: Type.Array(
        Type.Object({
          thread_key: Type.String(),
          created_at: Type.String(),
          updated_at: Type.String(),
          message_count: Type.Integer(),
          messages: Type.Array(recordedMessage, {
            description: 'Oldest first: the newest 200 in a page of threads, the page in a page of messages.',
          }),
          memory: Type.Object({
            summary: Type.String(),
            facts: Type.Array(Type.String(), { description: 'What the person said about themselves.' }),
            notes: Type.Array(Type.String(), { description: 'What the thread gave to the knowledge of the agent.' }),
            up_to_turn: Type.Integer({ description: 'Last turn that it was made from; 0 = none yet.' }),
          }),
        }),
      ),
      next: nullable(Type.Integer({ description: 'For `after`; null when this was the last page.' })),
    }),
    errors: { agent_not_found: agentNotFound },
    timeoutMs: 120_000,
  }),
};
