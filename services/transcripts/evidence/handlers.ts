/** Handlers of import evidence (rules/transcripts#import-evidence): counts and digests, never speech. */
import { requireOpsReader } from '#libs/infrastructure/actor';
import { appError } from '#libs/infrastructure/errors';
import { rawJson, type HandlersOf } from '#libs/infrastructure/nats';
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
    listEvidence: async ({ conversation_id: id, sha256 }, context) => {
      requireOpsReader(context.actor);
      if ((id === undefined) === (sha256 === undefined))
        throw appError(
          'bad_request',
          'ambiguous_selection',
          'Exactly one of `conversation_id` and `sha256` is required.',
        );
      if (id !== undefined) await bus.call(conversations.rpcs.exists, { id }, context);
      return rawJson((await statements.listEvidence(db, { conversationId: id, sha256 })).body);
    },
  };
}
