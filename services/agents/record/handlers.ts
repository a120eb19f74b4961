/** What is stored of the conversations with agents, for operators. */
import { type Handlers, rawJson } from '#libs/nats';
import type { Database } from '#libs/orm';
import { getAgent } from '../agent/index.ts';
import type { agents } from '../contract.ts';
import { requireReader } from '../operators.ts';
import type { recordRpcs } from './contract.ts';
import { listAgents, renderMessagePage, renderThreadPage } from './statements.ts';

const defaultLimit = 100;

export function createRecordHandlers(db: Database): Pick<Handlers<typeof agents>, keyof typeof recordRpcs> {
  const list = async ({ after = '', limit }: { after?: string; limit: number }) => ({
    items: await listAgents(db, { after: after.replaceAll('\0', ''), limit }),
  });

  return {
    agentsList: list,
    listAgents: (request, { actor }) => {
      requireReader(actor);
      return list(request);
    },
    getRecord: async ({ slug, thread_key: threadKey, thread_id: threadId, after = 0, limit = defaultLimit }) => {
      const { id } = await getAgent(db, slug);
      return rawJson(
        threadKey === undefined && threadId === undefined
          ? (await renderThreadPage(db, { agentId: id, after, limit })).json
          : (await renderMessagePage(db, { agentId: id, threadKey, threadId, after, limit })).json,
      );
    },
  };
}
