import type { PayloadOf } from '#libs/infrastructure/contract';
import { AppError, notFound } from '#libs/infrastructure/errors';
import type { EventOutbox } from '#libs/infrastructure/feed';
import { type JobRun, PermanentJobError } from '#libs/infrastructure/jobs';
import type { Tx } from '#libs/infrastructure/orm';
import type { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { conversationFeed } from '../feed/index.ts';
import { requireId } from '../guards.ts';
import { addNote } from '../statements.ts';
import { setAudio } from './statements.ts';

export type Attachment = PayloadOf<typeof conversations.jobs.attachAudio>;

/** Attaches an uploaded file in the caller's transaction. */
export async function attachIn(eventOutbox: EventOutbox, tx: Tx, request: Attachment): Promise<void> {
  const { audio } = request;
  const id = requireId(request.conversation_id);
  const found = await setAudio(tx, { id, blobId: request.blob_id, audio: JSON.stringify(audio) });
  if (found === undefined) throw notFound();
  if (found.attached) eventOutbox.add(tx, conversationFeed.audioUploaded, { subject: id, data: {} });
  if (request.note === false) return;
  const account = request.actor_account_id === null ? '' : ` by account ${request.actor_account_id}`;
  const body = `Audio uploaded${account}: ${audio.name} (${audio.size_bytes} bytes)`;
  const key = `audio:${request.blob_id}`;
  await addNote(tx, { conversationId: id, key, type: 'audio', body, authorPersonId: request.actor_person_id });
}

/**
 * Creates the job that attaches an upload when the operation could not be reached. The job fails permanently when the
 * conversation does not exist.
 */
export function createAttachAudioWorker({ eventOutbox }: Pick<Dependencies, 'eventOutbox'>) {
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
