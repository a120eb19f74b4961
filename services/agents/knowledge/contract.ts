/** What operators decide about the knowledge of agents (D70): which sentences of visitors may reach other visitors. */
import { byOperators, rpc, Type } from '#libs/contract';
import { agentNotFound, nullable, slug } from '../schemas.ts';

const ids = Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 1_000, uniqueItems: true });
const sentenceNotFound = { code: 'not_found', when: 'The agent has no sentence of that id. Nothing was changed.' } as const;

export const knowledgeRpcs = {
  listKnowledge: rpc({
    subject: 'admin.agents.knowledge.list',
    callers: byOperators,
    summary: 'The sentences that an agent gathered for all its threads, approved and waiting, oldest first, each with where it comes from.',
    request: Type.Object({ slug }),
    reply: Type.Object({
      mode: Type.Union([Type.Literal('off'), Type.Literal('reviewed'), Type.Literal('automatic')], { description: '`AGENT_KNOWLEDGE`.' }),
      items: Type.Array(
        Type.Object({
          id: Type.Integer(),
          body: Type.String({ description: 'As the agent would read it.' }),
          thread_key: Type.String(),
          visitor_id: nullable(Type.String({ description: 'Null in messaging chats.' })),
          up_to_turn: Type.Integer({ description: 'Last turn of the thread that had been read for it.' }),
          created_at: Type.String({ format: 'date-time' }),
          approved_at: nullable(Type.String({ format: 'date-time' })),
        }),
      ),
    }),
    errors: { agent_not_found: agentNotFound },
  }),
  approveKnowledge: rpc({
    subject: 'admin.agents.knowledge.approve',
    callers: byOperators,
    summary: 'Lets an agent draw on sentences in all its threads: all of these or, with an error, none. Approved ones stay so.',
    request: Type.Object({ slug, ids }),
    reply: Type.Object({ approved: Type.Integer() }),
    errors: {
      agent_not_found: agentNotFound,
      sentence_not_found: sentenceNotFound,
      too_much_knowledge: { code: 'conflict', when: 'The agent would have more than 200 approved sentences. Nothing was changed.' },
    },
  }),
  rejectKnowledge: rpc({
    subject: 'admin.agents.knowledge.reject',
    callers: byOperators,
    summary: 'Deletes sentences, approved or not, with what was made of them: these, or all of the agent.',
    request: Type.Object({ slug, ids: Type.Optional(ids) }),
    reply: Type.Object({ rejected: Type.Integer() }),
    errors: { agent_not_found: agentNotFound, sentence_not_found: sentenceNotFound },
  }),
};
