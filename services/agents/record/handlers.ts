/** `agents.record.get`: what is stored of the conversations with an agent. */
import { type Handler, rawJson } from '#libs/nats';
import type { Database } from '#libs/orm';
import { getAgent } from '../agent/index.ts';
import type { recordRpcs } from './contract.ts';
import { renderMessagePage, renderThreadPage } from './statements.ts';

const defaultLimit = 100;

export function createGetRecord(db: Database): Handler<typeof recordRpcs.getRecord> {
  return async ({ slug, thread_key: threadKey, after = 0, limit = defaultLimit }) => {
    const { id } = await getAgent(db, slug);
    return rawJson(
      threadKey === undefined
        ? (await renderThreadPage(db, { agentId: id, after, limit })).json
        : (await renderMessagePage(db, { agentId: id, threadKey, after, limit })).json,
    );
  };
}
