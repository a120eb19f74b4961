/** What operators decide about the knowledge of agents (D70): which sentences of visitors may reach other visitors. */
import { byOperators, byUsers, nullable, rpc, Type } from '#libs/contract';
import { agentNotFound, notAnOperator, slug } from '../schemas.ts';

const ids = Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 1_000, uniqueItems: true });
const sentenceNotFound = { code: 'not_found', when: 'The agent has no sentence of that id. Nothing was changed.' } as const;

/** `AGENT_KNOWLEDGE`. */
const mode = Type.Enum(['off', 'reviewed', 'automatic'], {
  description: '`AGENT_KNOWLEDGE`: whether none of it, what was approved, or all of it reaches other visitors.',
});

/** Where it comes from is named by a number: who knows the key of a thread on the web could write in it (D33a). */
export const sentence = Type.Object({
  id: Type.Integer(),
  body: Type.String({ description: 'As the agent would read it.' }),
  thread_id: Type.Integer({ description: 'The thread that it comes from.' }),
  channel: Type.String({ description: '`web` or `telegram`.' }),
  up_to_turn: Type.Integer({ description: 'Last turn of the thread that had been read for it.' }),
  created_at: Type.String({ format: 'date-time' }),
  approved_at: nullable(Type.String({ format: 'date-time', description: 'When an operator approved it; null while it waits.' })),
});

const list = {
  slug,
  state: Type.Optional(
    Type.Enum(['waiting', 'approved'], { description: 'Only those that wait for a decision, or that have been approved.' }),
  ),
};
const errors = { agent_not_found: agentNotFound };
const choice = Type.Object({ slug, ids });
const approval = {
  summary: 'Lets an agent draw on sentences in all its threads: all of these or, with an error, none. Approved ones stay so.',
  audit: 'agent.approve-knowledge',
  request: choice,
  reply: Type.Object({ approved: Type.Integer() }),
} as const;
const approvalErrors = {
  ...errors,
  sentence_not_found: sentenceNotFound,
  too_much_knowledge: { code: 'conflict', when: 'The agent would have more than 200 approved sentences. Nothing was changed.' },
} as const;
const rejectionErrors = { ...errors, sentence_not_found: sentenceNotFound } as const;
const rejected = Type.Object({ rejected: Type.Integer() });

export const knowledgeRpcs = {
  listSentences: rpc({
    subject: 'agents.operations.list-sentences',
    callers: byUsers,
    summary: 'The sentences that an agent gathered for all its threads, oldest first, in pages.',
    request: Type.Object({
      ...list,
      after: Type.Optional(Type.Integer({ description: 'Those behind this one.' })),
      limit: Type.Integer({ minimum: 1, maximum: 201 }),
    }),
    reply: Type.Object({ mode, items: Type.Array(sentence) }),
    errors: { ...errors, ...notAnOperator },
  }),
  approveSentences: rpc({
    subject: 'agents.operations.approve-sentences',
    callers: byUsers,
    ...approval,
    errors: { ...approvalErrors, ...notAnOperator },
  }),
  rejectSentences: rpc({
    subject: 'agents.operations.reject-sentences',
    callers: byUsers,
    audit: 'agent.reject-knowledge',
    summary: 'Deletes sentences for good, approved or not, with what was made of them: all of these or, with an error, none.',
    request: choice,
    reply: rejected,
    errors: { ...rejectionErrors, ...notAnOperator },
  }),
  listKnowledge: rpc({
    subject: 'admin.agents.knowledge.list',
    callers: byOperators,
    summary: 'The sentences that an agent gathered for all its threads, oldest first, each with where it comes from.',
    request: Type.Object(list),
    reply: Type.Object({
      mode,
      items: Type.Array(
        Type.Object({
          ...sentence.properties,
          thread_key: Type.String(),
          visitor_id: nullable(Type.String({ description: 'Null in messaging chats.' })),
        }),
      ),
    }),
    errors,
  }),
  approveKnowledge: rpc({ subject: 'admin.agents.knowledge.approve', callers: byOperators, ...approval, errors: approvalErrors }),
  rejectKnowledge: rpc({
    subject: 'admin.agents.knowledge.reject',
    callers: byOperators,
    audit: 'agent.reject-knowledge',
    summary: 'Deletes sentences, approved or not, with what was made of them: these, or all of the agent.',
    request: Type.Object({ slug, ids: Type.Optional(ids) }),
    reply: rejected,
    errors: rejectionErrors,
  }),
};
