/** Files of a conversation in its timeline (rules/conversations#timeline; W9, W23). */
import type { TimelineFact } from '#libs/infrastructure/contract';
import { listFailedJobs } from '#libs/infrastructure/jobs';
import type { HandlersOf } from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import type { ownTimelineRpcs } from './contract.ts';
import { listUploads } from './statements.ts';

const maxUploads = 200;

export function createTimelineHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof ownTimelineRpcs> {
  return {
    readTimeline: async ({ conversation_id: conversationId }) => {
      const [uploads, failed] = await Promise.all([
        listUploads(db, { conversationId, limit: maxUploads }),
        listFailedJobs(db, conversationId),
      ]);
      const files = uploads.map(({ id, kind, size_bytes: bytes, account_id: accountId, at }): TimelineFact => {
        const isAudio = kind === 'audio';
        return {
          at,
          kind: isAudio ? 'audio.uploaded' : 'video.available',
          title: isAudio ? 'Audio uploaded' : 'Video available',
          actor: accountId === null ? null : { kind: 'account', name: null, account_id: accountId },
          detail: { file: kind, size_bytes: bytes },
          link: { type: 'file', id },
        };
      });
      return { items: [...files, ...failed] };
    },
  };
}
