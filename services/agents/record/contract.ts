/** What operators see of the conversations with an agent. */
import { byOperators, rpc, Type } from '#libs/contract';
import { agentNotFound, nullable, slug } from '../schemas.ts';

const recordedMessage = Type.Object({
  id: Type.Integer(),
  note_type: Type.String({ description: '`chat_visitor` or `chat_agent` (D34).' }),
  body: Type.String(),
  html: Type.String(),
  created_at: Type.String(),
});

export const recordRpcs = {
  getRecord: rpc({
    subject: 'admin.agents.record.get',
    callers: byOperators,
    summary:
      'What is stored of the conversations with an agent, oldest thread first, in pages: of threads, or of the messages of one thread.',
    request: Type.Object({
      slug,
      thread_key: Type.Optional(Type.String({ description: 'Only this thread; the pages are of its messages then.' })),
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
