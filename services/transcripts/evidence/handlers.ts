/** Handlers of import evidence (rules/transcripts#import-evidence): counts and digests, never speech. */
import { rawJson, type HandlersOf } from '#libs/nats';
import { conversations } from '#services/conversations';
import type { Dependencies } from '../dependencies.ts';
import type { evidenceRpcs } from './contract.ts';
import * as statements from './statements.ts';

/** Creates the handlers. Every operation throws AppError not_found when the conversation does not exist. */
export function createEvidenceHandlers({ bus, db }: Pick<Dependencies, 'bus' | 'db'>): HandlersOf<typeof evidenceRpcs> {
  return {
    getEvidence: async ({ conversation_id: id }, context) => {
      await bus.call(conversations.rpcs.exists, { id }, context);
      return rawJson((await statements.getEvidence(db, { conversationId: id })).body);
    },
    listVerificationBases: async (request, context) => {
      if ('sha256' in request)
        return rawJson((await statements.listBases(db, { conversationId: null, sha256: request.sha256 })).body);
      await bus.call(conversations.rpcs.exists, { id: request.conversation_id }, context);
      return rawJson((await statements.listBases(db, { conversationId: request.conversation_id, sha256: null })).body);
    },
  };
}
