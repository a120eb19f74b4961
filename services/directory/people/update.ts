/** Updates a person, for global editors and the person (rules/people#update-a-person; W1). */
import { type Actor, isPossibleId, type RequestOf } from '#libs/infrastructure/contract';
import { AppError, badRequest, notFound } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import { type JsonObject, parseJson } from '#libs/infrastructure/json';
import { type Handler, rawJson, withEtag } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { Dependencies } from '../dependencies.ts';
import { getPerson } from '../api-objects/index.ts';
import { peopleEvents } from '../events/contract.ts';
import { emitWritten } from '../events/index.ts';
import { checkIfMatch } from '../lists/index.ts';
import { readViewer } from '../visibility/index.ts';
import { maxChannels, type peopleRpcs } from './contract.ts';
import { checkPersonUpdate, type PersonChange, refuseDuplicate } from './rules.ts';
import { findByAddress, lockAddresses, lockPersonForUpdate, savePerson } from './statements.ts';

type Request = RequestOf<typeof peopleRpcs.updatePerson>;

export function createUpdatePerson({
  jobs,
  idempotency,
  eventOutbox,
  history,
}: Pick<Dependencies, 'jobs' | 'idempotency' | 'eventOutbox' | 'history'>): Handler<typeof peopleRpcs.updatePerson> {
  return (request, context) =>
    idempotency.run(context, request, async (tx) => {
      const { person_id: id } = request;
      const contact = await lockForEditing(tx, request, context.actor);
      await checkIfMatch(request.if_match, () => getPerson(tx, { id }));
      const change = checkPersonUpdate(request);
      await checkAddresses(tx, id, contact, change, request);
      const tracked = await history.recordChanges(tx, context, 'people', [id]);
      const { name, description, photoUrl } = change;
      const saved = await savePerson(tx, {
        id,
        name,
        description,
        setPhoto: photoUrl !== undefined,
        photoUrl,
        ...splitContact(contact, change.contact),
      });
      if (saved !== undefined) {
        await jobs.emit(tx, peopleEvents.peopleChanged, { ids: [id] });
        await emitWritten(eventOutbox, tx, 'person', 'updated', [id]);
      }
      const person = (await getPerson(tx, { id }))?.body ?? 'null';
      const changes = JSON.stringify(await tracked.changesOf(id));
      return withEtag(rawJson(`{"person":${person},"changes":${changes}}`), entityTag(person));
    });
}

/** Locks the person and returns the contact values. @throws AppError 404, or 403 without the required rights */
async function lockForEditing(tx: Tx, request: Request, actor: Actor | undefined): Promise<JsonObject> {
  const { person_id: id } = request;
  const row = isPossibleId(id) ? await lockPersonForUpdate(tx, { id }) : undefined;
  if (row === undefined) throw notFound();
  const user = actor?.kind === 'user' ? actor : undefined;
  if (!readViewer(actor).seesAll && user?.personId !== id)
    throw new AppError({ code: 'permission_denied', message: 'You cannot edit this person.' });
  const contact = parseJson(row.contact) as JsonObject;
  // Exports and erasures find chats by this value: a change would give access to the chats of others.
  const given = (request.contact as JsonObject | undefined)?.['telegram_user_id'];
  if (given !== undefined && given !== contact['telegram_user_id'] && user?.superuser !== true)
    throw new AppError({ code: 'permission_denied', message: 'Only superusers can change contact.telegram_user_id.' });
  return contact;
}

/**
 * Locks changed addresses against concurrent writes. @throws AppError 409 if another person has one, 400 if the person
 * would have too many channels
 */
async function checkAddresses(
  tx: Tx,
  id: number,
  contact: JsonObject,
  { contact: given }: PersonChange,
  request: Request,
): Promise<void> {
  const changed = (channel: string): string | null => {
    const value = given[channel] ?? null;
    return value === contact[channel] ? null : value;
  };
  const [email, linkedin] = [changed('email'), changed('linkedin')];
  if (email !== null || linkedin !== null) {
    await lockAddresses(tx, { email, linkedin });
    refuseDuplicate(await findByAddress(tx, { email, linkedin, exceptId: id }), request);
  }
  const added = Object.keys(given).filter((channel) => given[channel] !== null && !Object.hasOwn(contact, channel));
  const removed = Object.keys(given).filter((channel) => given[channel] === null && Object.hasOwn(contact, channel));
  const count = Object.keys(contact).length + added.length - removed.length;
  if (added.length > 0 && count > maxChannels) throw badRequest(`contact can have at most ${maxChannels} channels.`);
}

function splitContact(
  stored: JsonObject,
  given: PersonChange['contact'],
): { readonly contact: string; readonly removed: string[] } {
  const channels = Object.keys(given);
  const set = channels.filter((channel) => given[channel] !== null);
  return {
    contact: JSON.stringify(Object.fromEntries(set.map((channel) => [channel, given[channel]]))),
    removed: channels.filter((channel) => given[channel] === null && Object.hasOwn(stored, channel)),
  };
}
