/** The media service's uploads as a conversation shows them (rules/media#audio-upload). */
import type { PayloadOf, ReplyOf, RequestOf } from '#libs/contract';
import { notFound } from '#libs/errors';
import type { Tx } from '#libs/orm';
import type { conversations } from '../contract.ts';
import { requireId } from '../conversation-view.ts';
import type { Dependencies } from '../dependencies.ts';
import { DataTooLarge, maxDataBytes } from '../domain/data-size.ts';
import { attachAudio, measureWithAudio } from '../repositories/conversation.ts';
import { addNote } from '../repositories/ledger.ts';

type Attachment = PayloadOf<typeof conversations.jobs.attachAudio>;

/** Sets `infos.audio` and adds the note, once per blob; an older blob never replaces a newer one. @throws AppError 404 */
export async function attach({ db }: Dependencies, request: Attachment): Promise<ReplyOf<typeof conversations.rpcs.attachAudio>> {
  await db.transaction((tx) => attachIn(tx, request));
  return { audio: request.audio };
}

/** @throws AppError 404, 413 `conversation_data_too_large` */
export async function check(
  { db }: Dependencies,
  { conversation_id: id, audio }: RequestOf<typeof conversations.rpcs.checkAudio>,
): Promise<ReplyOf<typeof conversations.rpcs.checkAudio>> {
  const [row] = await db.query<{ bytes: number }>(measureWithAudio, [requireId(id), JSON.stringify(audio)]);
  if (row === undefined) throw notFound();
  if (row.bytes > maxDataBytes) throw new DataTooLarge('infos');
  return { ok: true };
}

/** As `attach`, in the caller's transaction. */
export async function attachIn(tx: Tx, request: Attachment): Promise<void> {
  const { audio } = request;
  const id = requireId(request.conversation_id);
  const [found] = await tx.query<{ attached: boolean }>(attachAudio, [id, request.blob_id, JSON.stringify(audio)]);
  if (found === undefined) throw notFound();
  if (request.note === false) return;
  const account = request.actor_account_id === null ? '' : ` by account ${request.actor_account_id}`;
  const body = `Audio uploaded${account}: ${audio.name} (${audio.size_bytes} bytes)`;
  await tx.query(addNote, [id, `audio:${request.blob_id}`, 'audio', body, request.actor_person_id, null]);
}
