/**
 * The transcript file (rules/transcripts#transcript-file; D24, D24a). Usual ones are one message; a large one is written twice, first
 * for its digest, which is the entity tag that goes before the body, then for the reader.
 */
import { createHash } from 'node:crypto';
import { notFound, unavailable } from '#libs/errors';
import { byteStream, ownContext, rawBytes, withDigest, type Bus, type CallContext, type Handler } from '#libs/nats';
import type { Database } from '#libs/orm';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import type { transcripts } from '../contract.ts';
import { attributedId, type StoredSpeaker } from '../speaker.ts';
import { listSpeakers } from '../statements.ts';
import { RunWriter, type TranscriptRow, writeHead } from './rules.ts';
import { findUtterance, listRows } from './statements.ts';

/** Files up to this size are made once and held. */
const heldBytes = 1_048_576;
const peoplePerCall = 500;
const rowsPerPage = 2_000;
const maxId = 2_147_483_647;

type Dependencies = { readonly bus: Bus; readonly db: Database };

/** `transcripts.transcripts.render`. @throws AppError not_found: no such conversation, or the speaker has no utterances in it. */
export function createRender(deps: Dependencies): Handler<typeof transcripts.rpcs.render> {
  return async ({ conversation_id: id, person_id: personId }, context) => {
    const described = await deps.bus.call(conversations.rpcs.describe, { id }, context);
    if (
      personId !== undefined &&
      !(Math.abs(personId) <= maxId && (await findUtterance(deps.db, { conversationId: id, personId })) !== undefined)
    )
      throw notFound();
    const head = writeHead({
      id,
      title: described.title,
      journey: described.journey_name === '' ? null : described.journey_name,
      event: described.event?.name ?? null,
      start: described.start,
      finish: described.finish,
      participants: described.participants.map((participant) => participant.name),
    });
    const nameOf = await readNames(deps, id, context);
    const write = (): AsyncGenerator<Uint8Array> => writeFile(deps.db, id, head, new RunWriter(nameOf, personId));
    const first = await readOnce(write());
    if (first.whole !== undefined) return rawBytes(first.whole);
    return withDigest(byteStream(verify(write(), first.digest)), first.digest);
  };
}

async function* writeFile(db: Database, id: number, head: string, writer: RunWriter): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head, 'utf8');
  for await (const rows of readRows(db, id)) {
    const text = writer.write(rows);
    if (text !== '') yield Buffer.from(text, 'utf8');
  }
  yield Buffer.from(writer.finish(), 'utf8');
}

/** The rows in stored order, page by page: no connection is held while a slow reader takes its time. */
async function* readRows(db: Database, conversationId: number): AsyncGenerator<TranscriptRow[]> {
  for (let afterStart = Number.MIN_SAFE_INTEGER, afterPosition = 0; ;) {
    const page = await listRows(db, { conversationId, afterStart, afterPosition, limit: rowsPerPage });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < rowsPerPage) return;
    ({ startUs: afterStart, position: afterPosition } = last);
  }
}

/** Digest of the file, and the file itself when it is small. */
async function readOnce(chunks: AsyncIterable<Uint8Array>): Promise<{ digest: string; whole: Uint8Array | undefined }> {
  const hash = createHash('sha256');
  let parts: Uint8Array[] | undefined = [];
  let size = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    size += chunk.byteLength;
    if (size > heldBytes) parts = undefined;
    parts?.push(chunk);
  }
  return { digest: hash.digest('base64url'), whole: parts === undefined ? undefined : Buffer.concat(parts, size) };
}

/** Breaks the stream when an import replaced the rows since the digest was sent. */
async function* verify(chunks: AsyncIterable<Uint8Array>, digest: string): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('base64url') !== digest) throw unavailable('The transcript changed while it was read');
}

/** Present names of resolved speakers; the provider's display name, or a number, of the others. */
async function readNames(deps: Dependencies, id: number, context: CallContext): Promise<(speakerId: number) => string> {
  const speakers = await listSpeakers(deps.db, { conversationId: id });
  const names = new Map<number, string>();
  for (const speaker of speakers) addFallbackName(names, speaker);
  const personIds = [...new Set(speakers.flatMap((speaker) => speaker.personId ?? []))];
  for (let index = 0; index < personIds.length; index += peoplePerCall) {
    const { items } = await deps.bus.call(
      directory.rpcs.getPeople,
      { ids: personIds.slice(index, index + peoplePerCall) },
      ownContext(context),
    );
    for (const person of items) names.set(person.id, person.name);
  }
  return (speakerId) => names.get(speakerId) ?? (speakerId < 0 ? `Unresolved speaker ${-speakerId}` : `Person ${speakerId}`);
}

function addFallbackName(names: Map<number, string>, speaker: StoredSpeaker): void {
  const speakerId = attributedId(speaker);
  if (speaker.displayName !== null && !names.has(speakerId)) names.set(speakerId, speaker.displayName);
}
