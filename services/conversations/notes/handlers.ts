/** Notes of a conversation, for the admin CLI (rules/cli#admin-cli). */
import type { ReplyOf, RequestOf } from '#libs/contract';
import { notFound } from '#libs/errors';
import type { RequestContext } from '#libs/nats';
import { directory } from '#services/directory';
import type { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { requireId } from '../ids.ts';
import { instantFromSql } from '../sql-values.ts';
import { findConversationId } from '../statements.ts';
import * as statements from './statements.ts';

const defaultLimit = 1_000;

/** Newest first, as Note items of rules/memberships#notes. @throws AppError 404 */
export async function listNotes(
  { db, bus }: Dependencies,
  request: RequestOf<typeof conversations.rpcs.listNotes>,
  context: RequestContext,
): Promise<ReplyOf<typeof conversations.rpcs.listNotes>> {
  const id = requireId(request.conversation_id);
  if ((await findConversationId(db, { id })) === undefined) throw notFound();
  const rows = await statements.listNotes(db, { conversationId: id, before: request.before, limit: request.limit ?? defaultLimit });
  const ids = [...new Set(rows.flatMap((row) => row.author_person_id ?? []))];
  const { items } = ids.length === 0 ? { items: [] } : await bus.call(directory.rpcs.getPeople, { ids }, context);
  const authors = new Map(items.map(({ photo, ...person }) => [person.id, { ...person, photo_url: photo }]));
  return {
    items: rows.map((row) => ({
      id: row.id,
      body: row.body,
      note_type: row.note_type,
      created_at: instantFromSql(row.created_at),
      author_person: authors.get(row.author_person_id ?? 0) ?? null,
    })),
  };
}
