/** Review of knowledge: operators decide which sentences of visitors can reach other visitors (D70). */
import { requireOpsOperator, requireOpsReader } from '#libs/infrastructure/actor';
import { type AuditContext, listSome, recordAudit } from '#libs/infrastructure/audit';
import { appError } from '#libs/infrastructure/errors';
import type { Handlers } from '#libs/infrastructure/nats';
import { getAgent } from '../agent/index.ts';
import type { agents } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { dropSummaries, enqueueAgentMemory, maxKnowledgePerAgent } from './index.ts';
import type { memoryRpcs } from './contract.ts';
import { approveKnowledge, countApproved, listKnowledge, rejectKnowledge } from './statements.ts';

type MemoryHandlers = Pick<Handlers<typeof agents>, keyof typeof memoryRpcs>;

interface ListRequest {
  readonly slug: string;
  readonly state?: 'waiting' | 'approved';
  readonly after?: number;
  readonly limit: number;
}

export function createMemoryHandlers(deps: Pick<Dependencies, 'config' | 'db' | 'jobs'>): MemoryHandlers {
  const { db } = deps;
  const mode = deps.config.AGENT_KNOWLEDGE;

  const list = async ({ slug, state, after, limit }: ListRequest) => {
    const { id } = await getAgent(db, slug);
    return await listKnowledge(db, {
      agentId: id,
      isApproved: state === undefined ? undefined : state === 'approved',
      after,
      limit,
    });
  };
  const approve = async ({ slug, ids }: { slug: string; ids: number[] }, context: AuditContext) => {
    const { id } = await getAgent(db, slug);
    return await db.transaction(async (tx) => {
      const found = await approveKnowledge(tx, { agentId: id, ids });
      checkFound(ids, found);
      if ((await countApproved(tx, { agentId: id })).count > maxKnowledgePerAgent) {
        throw appError(
          'conflict',
          'too_much_knowledge',
          `An agent can have at most ${maxKnowledgePerAgent} approved sentences. Reject others first.`,
        );
      }
      const fresh = found.filter((sentence) => !sentence.was_approved).map((sentence) => sentence.id);
      if (fresh.length > 0) recordAudit(tx, context, { target: { type: 'agent', id: slug }, changes: listSome(fresh) });
      return { approved: ids.length };
    });
  };
  const reject = async ({ slug, ids }: { slug: string; ids: number[] }, context: AuditContext) => {
    const { id } = await getAgent(db, slug);
    return await db.transaction(async (tx) => {
      const rejected = await rejectKnowledge(tx, { agentId: id, ids });
      checkFound(ids, rejected);
      await dropSummaries(tx, { agentIds: [id] });
      await enqueueAgentMemory(tx, deps, id);
      if (rejected.length > 0) {
        recordAudit(tx, context, {
          target: { type: 'agent', id: slug },
          changes: listSome(rejected.map((sentence) => sentence.id)),
        });
      }
      return { rejected: rejected.length };
    });
  };

  return {
    listSentences: async (request, { actor }) => {
      requireOpsReader(actor);
      return { mode, items: await list(request) };
    },
    approveSentences: (request, context) => {
      requireOpsOperator(context.actor);
      return approve(request, context);
    },
    rejectSentences: (request, context) => {
      requireOpsOperator(context.actor);
      return reject(request, context);
    },
  };
}

function checkFound(ids: readonly number[], found: readonly { readonly id: number }[]): void {
  const missing = ids.filter((id) => !found.some((sentence) => sentence.id === id));
  if (missing.length > 0)
    throw appError('not_found', 'sentence_not_found', `No sentence of the agent has the id ${missing.join(', ')}`);
}
