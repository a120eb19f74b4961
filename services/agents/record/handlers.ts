/** What is stored of the conversations with agents, for operators. */
import type { ReplyOf } from '#libs/contract';
import { type Handlers, rawJson } from '#libs/nats';
import type { Database } from '#libs/orm';
import { getAgent } from '../agent/index.ts';
import type { agents } from '../contract.ts';
import type { MessagingHtml } from '../messaging-html.ts';
import { requireOpsReader } from '../operators.ts';
import { cleanAgentMessage, mayContainThoughts } from '../recorded-answer.ts';
import type { recordRpcs } from './contract.ts';
import { listAgents, renderMessagePage, renderThreadPage } from './statements.ts';

const defaultLimit = 100;

export function createRecordHandlers({
  db,
  html,
}: {
  db: Database;
  html: MessagingHtml;
}): Pick<Handlers<typeof agents>, keyof typeof recordRpcs> {
  const list = async ({ after = '', limit }: { after?: string; limit: number }) => ({
    items: await listAgents(db, { after: after.replaceAll('\0', ''), limit }),
  });

  return {
    adminListAgents: list,
    listAgents: (request, { actor }) => {
      requireOpsReader(actor);
      return list(request);
    },
    getRecord: async ({ slug, thread_key: threadKey, thread_id: threadId, after = 0, limit = defaultLimit }) => {
      const { id } = await getAgent(db, slug);
      const { json } =
        threadKey === undefined && threadId === undefined
          ? await renderThreadPage(db, { agentId: id, after, limit })
          : await renderMessagePage(db, { agentId: id, threadKey, threadId, after, limit });
      return rawJson(mayContainThoughts(json) ? withoutThoughts(json, html) : json);
    },
  };
}

function withoutThoughts(json: string, html: MessagingHtml): string {
  const record = JSON.parse(json) as ReplyOf<typeof agents.rpcs.getRecord>;
  const threads = record.threads.map((thread) => ({
    ...thread,
    messages: thread.messages.map((message) => (message.note_type === 'chat_agent' ? cleanAgentMessage(message, html) : message)),
  }));
  return JSON.stringify({ ...record, threads });
}
