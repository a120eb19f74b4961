/** Contract of the jobs that update captions on the video host (T4). */
import { job, Type } from '#libs/infrastructure/contract';
import { id } from '../schemas.ts';

/** Maximum number of conversations per job. */
export const maxConversationsPerJob = 1_000;

export const videohostJobs = {
  followTranscripts: job({
    startedBy: ['transcripts'],
    type: 'media.follow-transcripts',
    summary: 'Sends the captions of published videos again after their transcripts have changed (T4).',
    payload: Type.Object({ conversation_ids: Type.Array(id, { minItems: 1, maxItems: maxConversationsPerJob }) }),
    policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 300_000, timeoutMs: 60_000, concurrency: 2 },
  }),
  sendCaptions: job({
    type: 'media.send-captions',
    summary: "Sends, replaces or removes the captions on the video host to match a conversation's transcript (T4).",
    payload: Type.Object({ conversation_id: id }),
    policy: {
      maxAttempts: Infinity,
      firstDelayMs: 15_000,
      maxDelayMs: 900_000,
      expiresAfterMs: 7 * 24 * 3_600_000,
      timeoutMs: 1_800_000,
      concurrency: 1,
    },
  }),
};
