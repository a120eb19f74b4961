/** Lists and adds notes of a conversation (rules/conversations#set-up; W8, W22). */
import { isPossibleId, type RequestOf } from '#libs/infrastructure/contract';
import { appError, notFound } from '#libs/infrastructure/errors';
import { jsonPage, rawJson, type RawJson, type RequestContext, type TaggedReply } from '#libs/infrastructure/nats';
import type { Queryable } from '#libs/infrastructure/sql';
import { isBlank } from '#libs/infrastructure/text';
import type { conversations } from '../contract.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import { requireId } from '../guards.ts';
import { instantFromSql } from '../representation.ts';
import { findConversationEvent } from '../statements.ts';
import { notesPerPage } from './contract.ts';
import { createNote, listNotes, type NoteRow } from './statements.ts';

type Rpcs = typeof conversations.rpcs;

export function createNoteHandlers(
  deps: Dependencies,
): Pick<Operations, 'listConversationNotes' | 'createConversationNote'> {
  return {
    listConversationNotes: (request, context) => list(deps, request, context),
    createConversationNote: (request, context) => create(deps, request, context),
  };
}

/** Returns a page of notes. @throws AppError 404, 403 `coherence_access_required`, 400 `bad_cursor` */
async function list(
  deps: Dependencies,
  { conversation_id: id, limit = notesPerPage, cursor }: RequestOf<Rpcs['listConversationNotes']>,
  context: RequestContext,
): Promise<RawJson> {
  await requireEditable(deps, deps.db, id, context);
  const rows = await listNotes(deps.db, { conversationId: id, before: readCursor(cursor), limit: limit + 1 });
  const page = rows.slice(0, limit);
  return jsonPage(await render(deps, page), rows.length > limit ? String(page.at(-1)?.id) : null);
}

/** Adds a note of the caller's person. @throws AppError 404, 403 `coherence_access_required`, 400 for a blank body */
async function create(
  deps: Dependencies,
  request: RequestOf<Rpcs['createConversationNote']>,
  context: RequestContext,
): Promise<RawJson | TaggedReply<RawJson>> {
  const { conversation_id: id } = request;
  const body = request.body.trim();
  const authorPersonId = context.actor?.kind === 'user' ? context.actor.personId : null;
  return deps.idempotency.run(context, request, async (tx) => {
    await requireEditable(deps, tx, id, context);
    if (isBlank(body)) throw appError('bad_request', 'validation_error', '`body` must contain a visible character.');
    const [note = ''] = await render(deps, [await createNote(tx, { conversationId: id, body, authorPersonId })]);
    return rawJson(`{"note":${note}}`);
  });
}

/** @throws AppError 404, 403 `coherence_access_required` */
async function requireEditable(
  { access }: Dependencies,
  db: Queryable,
  id: number,
  context: RequestContext,
): Promise<void> {
  const row = await findConversationEvent(db, { id: requireId(id) });
  if (row === undefined) throw notFound();
  await access.requireEditor(row.event_id, context);
}

function readCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  if (!/^[1-9]\d*$/.test(cursor) || !isPossibleId(Number(cursor)))
    throw appError('bad_request', 'bad_cursor', '`cursor` must be the `next` of an earlier page.');
  return Number(cursor);
}

/** Returns the JSON of each note. */
async function render({ directory }: Dependencies, rows: readonly NoteRow[]): Promise<string[]> {
  const findPerson = await directory.people.lookUp(rows.flatMap((row) => row.author_person_id ?? []));
  return rows.map((row) => {
    const { id, body, note_type, created_at, author_person_id: authorId } = row;
    const facts = JSON.stringify({ id, body, note_type, created_at: instantFromSql(created_at) });
    const author = authorId === null ? undefined : findPerson(authorId);
    return `${facts.slice(0, -1)},"author_person":${author?.json ?? 'null'}}`;
  });
}
