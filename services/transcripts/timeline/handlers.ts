/** Imports of a conversation's transcript in its timeline (rules/conversations#timeline; W9, W23). */
import type { TimelineFact } from '#libs/infrastructure/contract';
import { listFailedJobs } from '#libs/infrastructure/jobs';
import type { HandlersOf } from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import type { ownTimelineRpcs } from './contract.ts';
import { findImport } from './statements.ts';

/** Statuses of imports that stored rows. */
const stored: readonly string[] = ['imported', 'legacy_unbounded'];

export function createTimelineHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof ownTimelineRpcs> {
  return {
    readTimeline: async ({ conversation_id: conversationId }) => {
      const [evidence, failed] = await Promise.all([
        findImport(db, { conversationId }),
        listFailedJobs(db, conversationId),
      ]);
      if (evidence === undefined) return { items: failed };
      const { at, ...detail } = evidence;
      const isStored = stored.includes(evidence.status);
      const imported: TimelineFact = {
        at,
        kind: isStored ? 'transcript.imported' : 'transcript.refused',
        title: isStored ? 'Transcript imported' : 'Transcript refused',
        actor: null,
        detail,
        link: null,
      };
      return { items: [imported, ...failed] };
    },
  };
}
