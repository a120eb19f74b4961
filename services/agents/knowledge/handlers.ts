/** `agents.knowledge.*`: an operator reads what visitors told an agent, and decides which sentences other visitors may hear (D70). */
import { appError } from '#libs/errors';
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import { getAgent } from '../agent/index.ts';
import type { KnowledgeMode } from '../config.ts';
import type { agents } from '../contract.ts';
import { dropSummaries, maxKnowledgePerAgent, type RenewAgentMemory } from '../memory/index.ts';
import { approveKnowledge, countApproved, listKnowledge, rejectKnowledge } from './statements.ts';

type KnowledgeHandlers = Pick<Handlers<typeof agents>, 'listKnowledge' | 'approveKnowledge' | 'rejectKnowledge'>;

export function createKnowledgeHandlers(deps: {
  db: Database;
  mode: KnowledgeMode;
  renewAgentMemory: RenewAgentMemory;
}): KnowledgeHandlers {
  const { db, mode, renewAgentMemory } = deps;
  return {
    listKnowledge: async ({ slug }) => {
      const { id } = await getAgent(db, slug);
      return { mode, items: await listKnowledge(db, { agentId: id }) };
    },
    approveKnowledge: async ({ slug, ids }) => {
      const { id } = await getAgent(db, slug);
      return await db.transaction(async (tx) => {
        checkFound(ids, await approveKnowledge(tx, { agentId: id, ids }));
        if ((await countApproved(tx, { agentId: id })).count > maxKnowledgePerAgent) {
          throw appError(
            'conflict',
            'too_much_knowledge',
            `An agent draws on ${maxKnowledgePerAgent} sentences at most: reject others first.`,
          );
        }
        return { approved: ids.length };
      });
    },
    rejectKnowledge: async ({ slug, ids }) => {
      const { id } = await getAgent(db, slug);
      return await db.transaction(async (tx) => {
        const rejected = await rejectKnowledge(tx, { agentId: id, ids });
        if (ids !== undefined) checkFound(ids, rejected);
        await dropSummaries(tx, { agentIds: [id] });
        await renewAgentMemory(tx, id);
        return { rejected: rejected.length };
      });
    },
  };
}

function checkFound(ids: readonly number[], found: readonly { readonly id: number }[]): void {
  const missing = ids.filter((id) => !found.some((sentence) => sentence.id === id));
  if (missing.length > 0) throw appError('not_found', 'sentence_not_found', `No sentence of the agent has the id ${missing.join(', ')}`);
}
