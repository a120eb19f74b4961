/** Import evidence (rules/transcripts#import-evidence): aggregates and digests, read only. */
import { rawJson, type Bus, type Handler } from '#libs/nats';
import type { Database } from '#libs/orm';
import { conversations } from '#services/conversations';
import type { transcripts } from '../contract.ts';
import * as statements from './statements.ts';

/** `transcripts.evidence.get`. @throws AppError not_found when the conversation does not exist. */
export function createGetEvidence(deps: { bus: Bus; db: Database }): Handler<typeof transcripts.rpcs.getEvidence> {
  return async ({ conversation_id: id }, context) => {
    await deps.bus.call(conversations.rpcs.exists, { id }, context);
    return rawJson((await statements.getEvidence(deps.db, { conversationId: id })).body);
  };
}

/** `transcripts.evidence.list-bases`. @throws AppError not_found when the conversation does not exist. */
export function createListVerificationBases(deps: { bus: Bus; db: Database }): Handler<typeof transcripts.rpcs.listVerificationBases> {
  return async (request, context) => {
    if ('sha256' in request) return rawJson((await statements.listBases(deps.db, { conversationId: null, sha256: request.sha256 })).body);
    await deps.bus.call(conversations.rpcs.exists, { id: request.conversation_id }, context);
    return rawJson((await statements.listBases(deps.db, { conversationId: request.conversation_id, sha256: null })).body);
  };
}

/** `admin.transcripts.evidence.find-latest-format`. */
export function createFindLatestFormat({ db }: { db: Database }): Handler<typeof transcripts.rpcs.findLatestFormat> {
  return async () => ({ latest: (await statements.findLatestFormat(db)) ?? null });
}
