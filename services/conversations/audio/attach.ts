/** Attaches an upload to its conversation, for the operation and the job. */
import type { PayloadOf } from '#libs/contract';
import { notFound } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import type { Tx } from '#libs/orm';
import type { conversations } from '../contract.ts';
import { conversationFeed } from '../feed/index.ts';
import { requireId } from '../ids.ts';
import { addNote } from '../notes/index.ts';
import { setAudio } from './statements.ts';

export type Attachment = PayloadOf<typeof conversations.jobs.attachAudio>;

/** As `attach`, in the caller's transaction. */
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
