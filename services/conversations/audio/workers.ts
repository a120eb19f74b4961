import type { PayloadOf } from '#libs/contract';
import { AppError } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import { PermanentJobError, type JobRun } from '#libs/jobs';
import type { conversations } from '../contract.ts';
import { attachIn } from './attach.ts';

/** Attaches an upload whose operation could not be reached. A conversation that is gone ends the job. */
export function createAttachAudioWorker(eventOutbox: EventOutbox) {
  return async (run: JobRun<PayloadOf<typeof conversations.jobs.attachAudio>>): Promise<void> => {
    try {
      await run.complete((tx) => attachIn(eventOutbox, tx, run.payload));
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found')
        throw new PermanentJobError('The conversation does not exist', { cause: error });
      throw error;
    }
  };
}
