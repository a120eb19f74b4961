/** Reads notes on a conversation, a person or a holon, newest first (rules/memberships#notes). */
import type { ListConversationNotesReply, ListNotesOfPersonReply } from '../clients/typescript/operations.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { type Page, readPages } from './pages.ts';

export interface NoteOwner {
  readonly conversation?: number;
  readonly person?: number;
  readonly holon?: number;
}

export type Note =
  | ListNotesOfPersonReply['body']['items'][number]
  | ListConversationNotesReply['body']['items'][number];

/** Returns a page of notes. @throws CliError unless exactly one owner is given */
export function listNotes(
  context: CliContext,
  { conversation, person, holon }: NoteOwner,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<Page<Note>> {
  if ([conversation, person, holon].filter((id) => id !== undefined).length !== 1)
    throw new CliError('Specify exactly one of --conversation, --person and --holon.', 'usage');
  return readPages<Note>(page, async ({ limit, cursor = '0' }) => {
    if (conversation !== undefined) {
      const query = { limit, ...(cursor === '0' ? {} : { cursor }) };
      const call = { path: { conversation_id: conversation }, query };
      return (await context.http((api) => api.listConversationNotes(call), `conversation ${conversation}`)).body;
    }
    const query = { limit, offset: readOffset(cursor) };
    const { body } = await (person === undefined
      ? context.http((api) => api.listNotesOfHolon({ path: { holon_id: holon ?? 0 }, query }), `holon ${holon}`)
      : context.http((api) => api.listNotesOfPerson({ path: { person_id: person }, query }), `person ${person}`));
    const end = query.offset + body.items.length;
    return { items: body.items, next: body.items.length > 0 && end < body.count ? String(end) : null };
  });
}

/** Returns the cursor of the page after a note. @throws CliError when the owner has no such note */
export async function findCursor(context: CliContext, owner: NoteOwner, id: number): Promise<string> {
  if (owner.conversation !== undefined) return String(id); // cursors of conversations' notes are ids
  const { items } = await listNotes(context, owner, { limit: Infinity });
  const index = items.findIndex((note) => note.id === id);
  if (index === -1) throw new CliError(`There is no note ${id}.`, 'not_found');
  return String(index + 1);
}

function readOffset(cursor: string): number {
  if (!/^\d{1,9}$/.test(cursor)) throw new CliError('--cursor must be a cursor printed by the previous page.', 'usage');
  return Number(cursor);
}
