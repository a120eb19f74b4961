/** Deletion of conversations with everything that was made of them. */
import { byOperators, rpc, Type } from '#libs/contract';
import { agentNotFound, slug } from '../schemas.ts';

const forgotten = Type.Object({
  threads: Type.Integer({ description: 'Threads deleted.' }),
  messages: Type.Integer({ description: 'Messages deleted, questions and answers.' }),
  facts: Type.Integer({ description: 'Remembered sentences deleted, those that agents shared included.' }),
});

export const forgetRpcs = {
  forgetThreads: rpc({
    subject: 'admin.agents.record.forget',
    callers: byOperators,
    audit: 'agent.forget',
    summary: 'Deletes threads with their messages and all that is remembered of them: one by key, or all of an agent.',
    request: Type.Object({
      slug,
      thread_key: Type.Optional(Type.String({ description: 'Only this thread; absent = every thread of the agent.' })),
    }),
    reply: forgotten,
    errors: { agent_not_found: agentNotFound },
    timeoutMs: 60_000,
  }),
  forgetPerson: rpc({
    subject: 'admin.agents.memory.forget',
    callers: byOperators,
    audit: 'agent.forget',
    summary:
      "Deletes what is stored of one person's conversations with all agents: messages, facts, and what agents derived from them. Nothing found is no error.",
    request: Type.Union([
      Type.Object({ visitor_id: Type.String({ minLength: 1, description: 'Of the visitor page.' }) }, { additionalProperties: false }),
      Type.Object({ thread_key: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
      Type.Object(
        {
          telegram_user_id: Type.Integer({
            minimum: 1,
            description: 'The private chat goes whole, in groups the turns that this user asked for.',
          }),
        },
        { additionalProperties: false },
      ),
    ]),
    reply: forgotten,
    timeoutMs: 60_000,
  }),
};
