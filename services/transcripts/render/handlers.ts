/**
 * Returns the transcript file (rules/transcripts#transcript-file; D24, D24a, T1, T4, T5). A file of usual size is one
 * message. A large file is generated twice: first for its digest, because the entity tag precedes the body, then for
 * the response.
 */
import { createHash } from 'node:crypto';
import { maxId } from '#libs/infrastructure/contract';
import { notFound, unavailable } from '#libs/infrastructure/errors';
import {
  byteStream,
  jsonStream,
  rawBytes,
  rawJson,
  withDigest,
  type Handler,
  type HandlersOf,
} from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import { parseInstant } from '#libs/infrastructure/time';
import { conversations } from '#services/conversations';
import type { Dependencies } from '../dependencies.ts';
import { toMilliseconds } from '../speaker.ts';
import { readSpeakerNames } from '../speaker-names.ts';
import type { renderRpcs, TranscriptFormat } from './contract.ts';
import { MarkdownWriter, writeMarkdownHead } from './rules/markdown.ts';
import type { TranscriptRow, TranscriptWriter, WriterOptions } from './rules/row.ts';
import { createJsonWriter, createSrtWriter, createTextWriter, createVttWriter } from './rules/segments.ts';
import { findUtterance, findWindow, listRows } from './statements.ts';

/** Files up to this size are buffered and sent as one message. */
const maxBufferedBytes = 1_048_576;
const rowsPerPage = 2_000;
/** Position before the first row. */
const startPosition = { afterStart: Number.MIN_SAFE_INTEGER, afterPosition: 0 };

type RenderDependencies = Pick<Dependencies, 'bus' | 'db'>;

export function createRenderHandlers(deps: RenderDependencies): HandlersOf<typeof renderRpcs> {
  return { render: createRender(deps), caption: createCaption(deps) };
}

/**
 * Creates the handler that returns the file. @throws AppError not_found when the conversation does not exist, or the
 * speaker has no rows in it
 */
function createRender(deps: RenderDependencies): Handler<typeof renderRpcs.render> {
  return async ({ conversation_id: id, person_id: personId, format = 'md', limit = Infinity, offset = 0 }, context) => {
    const described = await deps.bus.call(conversations.rpcs.describe, { id }, context);
    if (personId !== undefined && !(await hasRowsOf(deps.db, id, personId))) throw notFound();
    const names = await readSpeakerNames(deps, [id], context);
    const options = {
      nameOf: (speakerId: number) => names(id, speakerId),
      filterPersonId: personId,
      firstIndex: offset,
    };
    const createWriter = await chooseWriter(deps, format, described, options);
    return await reply(deps.db, { id, limit, offset }, format, createWriter);
  };
}

async function hasRowsOf(db: Database, conversationId: number, personId: number): Promise<boolean> {
  return Math.abs(personId) <= maxId && (await findUtterance(db, { conversationId, personId })) !== undefined;
}

/** Creates the handler that returns captions. @throws AppError not_found when the conversation has no rows */
function createCaption(deps: RenderDependencies): Handler<typeof renderRpcs.caption> {
  return async ({ conversation_id: id, video_started_at: videoStartedAt }, context) => {
    const [first] = await listRows(deps.db, { conversationId: id, ...startPosition, skipped: 0, limit: 1 });
    if (first === undefined) throw notFound();
    const window = await findWindow(deps.db, { conversationId: id });
    const shiftMs = findShift(window?.start, videoStartedAt);
    const names = await readSpeakerNames(deps, [id], context);
    const options = { nameOf: (speakerId: number) => names(id, speakerId), filterPersonId: undefined };
    return await reply(deps.db, { id, limit: Infinity, offset: 0 }, 'vtt', () => createVttWriter(options, shiftMs));
  };
}

/** Returns the milliseconds from the start of the video to the start of the window. */
function findShift(windowStart: string | undefined, videoStart: string | null): number {
  const [window, video] = [parseInstant(windowStart ?? ''), parseInstant(videoStart ?? '')];
  return window.kind === 'instant' && video.kind === 'instant'
    ? toMilliseconds(Number(window.instant - video.instant))
    : 0;
}

/** A range of a conversation's rows. */
interface RowRange {
  readonly id: number;
  readonly limit: number;
  readonly offset: number;
}

/** Replies with one message for a small file, or with a stream whose digest is known. */
async function reply(db: Database, range: RowRange, format: TranscriptFormat, createWriter: () => TranscriptWriter) {
  const write = (): AsyncGenerator<Uint8Array> => writeFile(db, range, createWriter());
  const { digest, whole } = await digestFile(format, write());
  const [asWhole, asStream] = format === 'json' ? [rawJson, jsonStream] : [rawBytes, byteStream];
  return withDigest(whole === undefined ? asStream(verify(format, write(), digest)) : asWhole(whole), digest);
}

interface DescribedConversation {
  readonly id: number;
  readonly title: string;
  readonly journey_name: string;
  readonly event: { readonly name: string } | null;
  readonly start: string | null;
  readonly finish: string | null;
  readonly participants: readonly { readonly name: string }[];
}

/** Returns a factory of writers for the format. */
async function chooseWriter(
  { db }: RenderDependencies,
  format: TranscriptFormat,
  described: DescribedConversation,
  options: WriterOptions,
): Promise<() => TranscriptWriter> {
  if (format === 'vtt') return () => createVttWriter(options);
  if (format === 'srt') return () => createSrtWriter(options);
  if (format === 'txt') return () => createTextWriter(options);
  if (format === 'json') {
    const window = (await findWindow(db, { conversationId: described.id })) ?? null;
    const origin = parseInstant(window?.start ?? described.start ?? '');
    const head = {
      conversationId: described.id,
      window,
      origin: origin.kind === 'instant' ? origin.instant : undefined,
    };
    return () => createJsonWriter(head, options);
  }
  const head = writeMarkdownHead({
    id: described.id,
    title: described.title,
    journey: described.journey_name === '' ? null : described.journey_name,
    event: described.event?.name ?? null,
    start: described.start,
    finish: described.finish,
    participants: described.participants.map((participant) => participant.name),
  });
  return () => new MarkdownWriter(head, options);
}

async function* writeFile(db: Database, range: RowRange, writer: TranscriptWriter): AsyncGenerator<Uint8Array> {
  yield Buffer.from(writer.start(), 'utf8');
  for await (const rows of readRows(db, range)) {
    const text = writer.write(rows);
    if (text !== '') yield Buffer.from(text, 'utf8');
  }
  yield Buffer.from(writer.finish(), 'utf8');
}

/** Yields the rows in stored order, page by page, so that slow clients do not occupy a connection. */
async function* readRows(
  db: Database,
  { id: conversationId, limit, offset }: RowRange,
): AsyncGenerator<TranscriptRow[]> {
  let after = { ...startPosition, skipped: offset };
  for (let remaining = limit; remaining > 0;) {
    const pageSize = Math.min(remaining, rowsPerPage);
    const page = await listRows(db, { conversationId, ...after, limit: pageSize });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < pageSize) return;
    remaining -= page.length;
    after = { afterStart: last.startUs, afterPosition: last.position, skipped: 0 };
  }
}

/** Returns the digest of the file, and its bytes if the file is small. */
async function digestFile(
  format: TranscriptFormat,
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ digest: string; whole: Uint8Array | undefined }> {
  const hash = createDigest(format);
  let parts: Uint8Array[] | undefined = [];
  let size = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    size += chunk.byteLength;
    if (size > maxBufferedBytes) parts = undefined;
    parts?.push(chunk);
  }
  return { digest: hash.digest('base64url'), whole: parts === undefined ? undefined : Buffer.concat(parts, size) };
}

/** Yields the file and fails the stream when an import replaced the rows after the digest was sent. */
async function* verify(
  format: TranscriptFormat,
  chunks: AsyncIterable<Uint8Array>,
  digest: string,
): AsyncGenerator<Uint8Array> {
  const hash = createDigest(format);
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('base64url') !== digest) throw unavailable('The transcript changed while it was read');
}

/**
 * Creates a digest that includes the format. The formats of a transcript share one URL, so their tags must differ even
 * when their bytes are equal, e.g. empty.
 */
function createDigest(format: TranscriptFormat): ReturnType<typeof createHash> {
  const hash = createHash('sha256');
  return format === 'md' ? hash : hash.update(`${format}\n`);
}
