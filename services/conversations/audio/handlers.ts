/** The media service's uploads as a conversation shows them (rules/media#audio-upload). */
import type { ReplyOf, RequestOf } from '#libs/contract';
import { notFound } from '#libs/errors';
import type { conversations } from '../contract.ts';
import { DataTooLarge, maxDataBytes } from '../data-size.ts';
import type { Dependencies } from '../dependencies.ts';
import { requireId } from '../ids.ts';
import { attachIn, type Attachment } from './attach.ts';
import { measureWithAudio } from './statements.ts';

/** Sets `infos.audio` and adds the note, once per blob; an older blob never replaces a newer one. @throws AppError 404 */
export async function attach(
  { db, eventOutbox }: Dependencies,
  request: Attachment,
): Promise<ReplyOf<typeof conversations.rpcs.attachAudio>> {
  await db.transaction((tx) => attachIn(eventOutbox, tx, request));
  return { audio: request.audio };
}

/** @throws AppError 404, 413 `conversation_data_too_large` */
export async function check(
  { db }: Dependencies,
  { conversation_id: id, audio }: RequestOf<typeof conversations.rpcs.checkAudio>,
): Promise<ReplyOf<typeof conversations.rpcs.checkAudio>> {
  const row = await measureWithAudio(db, { id: requireId(id), audio: JSON.stringify(audio) });
  if (row === undefined) throw notFound();
  if (row.bytes > maxDataBytes) throw new DataTooLarge('infos');
  return { ok: true };
}
