/**
 * Handlers of notes: feeds limited to what the caller can see (rules/memberships#notes; D47a, D48), and notes that
 * callers write (W4).
 */
import { type Actor, isPossibleId } from '#libs/infrastructure/contract';
import { AppError, badRequest, notFound } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import { type HandlersOf, type RawJson, rawJson, type TaggedReply, withEtag } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { Dependencies } from '../dependencies.ts';
import { bodyOf, checkIfMatch } from '../lists/index.ts';
import { lockPeopleForShare } from '../person-rows/index.ts';
import { readViewer } from '../visibility/index.ts';
import { type noteRpcs, notesPerPage } from './contract.ts';
import { createNote, readNote } from './new-note.ts';
import {
  deleteNote,
  findNote,
  findPerson,
  listNotesOfHolon,
  listNotesOfPerson,
  lockHolonForShare,
  lockNote,
  saveNote,
} from './statements.ts';

export function createNoteHandlers(
  deps: Pick<Dependencies, 'db' | 'idempotency' | 'eventOutbox'>,
): HandlersOf<typeof noteRpcs> {
  return { ...createFeedHandlers(deps), ...createWriteHandlers(deps) };
}

type FeedHandlers = Pick<HandlersOf<typeof noteRpcs>, 'listNotesOfPerson' | 'listNotesOfHolon'>;

function createFeedHandlers({ db }: Pick<Dependencies, 'db'>): FeedHandlers {
  return {
    listNotesOfPerson: async ({ person_id: personId, limit = notesPerPage, offset = 0 }, { actor }) =>
      bodyOf(await listNotesOfPerson(db, { personId, limit, offset, ...readViewer(actor) })),
    listNotesOfHolon: async ({ holon_id: holonId, limit = notesPerPage, offset = 0 }, { actor }) =>
      bodyOf(await listNotesOfHolon(db, { holonId, limit, offset, ...readViewer(actor) })),
  };
}

function createWriteHandlers({
  db,
  idempotency,
  eventOutbox,
}: Pick<Dependencies, 'db' | 'idempotency' | 'eventOutbox'>): Omit<HandlersOf<typeof noteRpcs>, keyof FeedHandlers> {
  const write = async (
    tx: Tx,
    actor: Actor | undefined,
    note: { readonly text: string; readonly personIds: number[]; readonly holonIds: number[] },
  ): Promise<TaggedReply<RawJson>> => {
    const body = await createNote(eventOutbox, tx, { ...note, authorPersonId: personOf(actor) });
    return withEtag(rawJson(`{"note":${body}}`), entityTag(body));
  };
  return {
    createPersonNote: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { person_id: personId, holon_id: holonId, body: text } = request;
        if (!(await lockPerson(tx, personId, context.actor))) throw notFound();
        const holonIds = typeof holonId === 'number' ? [holonId] : [];
        await checkMayNote(tx, context.actor, holonId);
        return write(tx, context.actor, { text, personIds: [personId], holonIds });
      }),
    createHolonNote: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { holon_id: id, body: text } = request;
        const holon = isPossibleId(id) ? await lockHolonForShare(tx, { id, ...readViewer(context.actor) }) : undefined;
        if (holon?.visible !== true) throw notFound();
        if (!holon.editable) throw denied('You cannot edit this holon.');
        return write(tx, context.actor, { text, personIds: [], holonIds: [id] });
      }),
    updateNote: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { note_id: id } = request;
        const before = await lockOwnNote(tx, id, context.actor);
        await checkIfMatch(request.if_match, () => Promise.resolve(before));
        const text = readNote(request.body);
        const changed = text !== before.text;
        const { body } = changed ? await saveNote(tx, { id, text }) : before;
        const changes = changed ? { body: { old: before.text, new: text } } : {};
        return withEtag(rawJson(`{"note":${body},"changes":${JSON.stringify(changes)}}`), entityTag(body));
      }),
    deleteNote: ({ note_id: id, if_match: ifMatch }, { actor }) =>
      db.transaction(async (tx) => {
        const note = await lockOwnNote(tx, id, actor);
        await checkIfMatch(ifMatch, () => Promise.resolve(note));
        await deleteNote(tx, { id });
        return {};
      }),
  };
}

/** Share-locks the person and the author. Returns whether the person exists. */
async function lockPerson(tx: Tx, id: number, actor: Actor | undefined): Promise<boolean> {
  if (!isPossibleId(id)) return false;
  const personIds = [id, personOf(actor) ?? 0].filter(isPossibleId);
  const [, person] = await tx.pipeline(
    () => lockPeopleForShare(tx, { personIds, membershipId: null }),
    () => findPerson(tx, { id }),
  );
  return person !== undefined;
}

/** Checks the right to write a note on a person. @throws AppError 400 for an unknown or invisible holon, 403 */
async function checkMayNote(tx: Tx, actor: Actor | undefined, holonId: number | null | undefined): Promise<void> {
  const viewer = readViewer(actor);
  if (typeof holonId !== 'number') {
    if (viewer.seesAll) return;
    throw denied('Notes on a person require global edit access, or a holon that you can edit.');
  }
  const holon = isPossibleId(holonId) ? await lockHolonForShare(tx, { id: holonId, ...viewer }) : undefined;
  if (holon?.visible !== true) throw badRequest('The holon does not exist.');
  if (!holon.editable) throw denied('You cannot edit this holon.');
}

/** Locks a note that the caller may change. @throws AppError 404, or 403 for other authors and for system notes (W4) */
async function lockOwnNote(tx: Tx, id: number, actor: Actor | undefined): Promise<{ text: string; body: string }> {
  if (!isPossibleId(id)) throw notFound();
  const [, note] = await tx.pipeline(
    () => lockNote(tx, { id }),
    () => findNote(tx, { id, ...readViewer(actor) }),
  );
  if (note?.visible !== true) throw notFound();
  const isAuthor = note.author_person_id !== null && note.author_person_id === personOf(actor);
  if (!note.by_person) throw denied('Notes of the platform cannot be changed.');
  if (!isAuthor && !(actor?.kind === 'user' && actor.superuser))
    throw denied('Only the author and superusers can change a note.');
  return note;
}

const personOf = (actor: Actor | undefined): number | null => (actor?.kind === 'user' ? actor.personId : null);
const denied = (message: string): AppError => new AppError({ code: 'permission_denied', message });
