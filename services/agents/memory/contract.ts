/** Memory jobs, and the review of knowledge by operators (D70). */
import { byUsers, job, notAnOperator, nullable, rpc, Type } from '#libs/infrastructure/contract';
import { agentNotFound, slug } from '../agent/contract.ts';

/** An unusable reply uses up an attempt; an unavailable server does not (workers.ts). */
const memoryPolicy = {
  maxAttempts: 5,
  firstDelayMs: 5_000,
  maxDelayMs: 900_000,
  timeoutMs: 300_000,
  concurrency: 2,
} as const;

export const memoryJobs = {
  threadMemory: job({
    type: 'agents.thread-memory',
    summary: 'Updates the facts and the rolling summary of a thread from its new turns',
    payload: Type.Object({ thread_id: Type.Integer() }),
    policy: memoryPolicy,
  }),
  agentMemory: job({
    type: 'agents.agent-memory',
    summary: "Summarises an agent's knowledge from the notes of all its threads",
    payload: Type.Object({ agent_id: Type.Integer() }),
    policy: memoryPolicy,
  }),
};

const ids = Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 1_000, uniqueItems: true });
const sentenceNotFound = {
  code: 'not_found',
  when: 'The agent has no sentence with that id. Nothing was changed.',
} as const;

/** Values of `AGENT_KNOWLEDGE`. */
const mode = Type.Enum(['off', 'reviewed', 'automatic'], {
  description: '`AGENT_KNOWLEDGE`: whether no, approved, or all sentences can reach other visitors.',
});

/** A knowledge sentence. The source thread is identified by its id, since its key would grant access to it (D33a). */
export const sentence = Type.Object({
  id: Type.Integer(),
  body: Type.String({ description: 'Text that the agent would use.' }),
  thread_id: Type.Integer({ description: 'Source thread.' }),
  channel: Type.String({ description: '`web` or `telegram`.' }),
  up_to_turn: Type.Integer({ description: 'Last turn read for it.' }),
  created_at: Type.String({ format: 'date-time' }),
  approved_at: nullable(
    Type.String({ format: 'date-time', description: 'Time of approval; null while waiting for review.' }),
  ),
});

const list = {
  slug,
  state: Type.Optional(Type.Enum(['waiting', 'approved'], { description: 'Only sentences in this state.' })),
};
const errors = { agent_not_found: agentNotFound };
const choice = Type.Object({ slug, ids });
const approval = {
  summary: 'Approves sentences for use in all threads of the agent: all of them or, with an error, none. Idempotent.',
  audit: 'agent.approve-knowledge',
  request: choice,
  reply: Type.Object({ approved: Type.Integer() }),
} as const;
const approvalErrors = {
  ...errors,
  sentence_not_found: sentenceNotFound,
  too_much_knowledge: {
    code: 'conflict',
    when: 'The agent would have more than 200 approved sentences. Nothing was changed.',
  },
} as const;
const rejectionErrors = { ...errors, sentence_not_found: sentenceNotFound } as const;
const rejected = Type.Object({ rejected: Type.Integer() });

export const memoryRpcs = {
  listSentences: rpc({
    subject: 'agents.operations.list-sentences',
    callers: byUsers,
    summary: "The agent's sentences for all its threads, oldest first, in pages.",
    request: Type.Object({
      ...list,
      after: Type.Optional(Type.Integer({ description: 'Id of the last sentence of the previous page.' })),
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
    summary:
      'Deletes sentences permanently, approved or not, with everything derived from them: all of them or, with an error, none.',
    request: choice,
    reply: rejected,
    errors: { ...rejectionErrors, ...notAnOperator },
  }),
};
