/** Creation of a person, with a first membership and a note, in one transaction (rules/people#create-a-person; D43 to D44). */
import type { Actor } from '#libs/contract';
import { AppError } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import type { IdempotencyStore } from '#libs/idempotency';
import type { Jobs } from '#libs/jobs';
import { type Handler, type RawJson, rawJson } from '#libs/nats';
import type { Tx } from '#libs/orm';
import { directory, type NewPerson } from '../../contract.ts';
import { tellWritten } from '../../feed/index.ts';
import { createMembership, showMembership } from '../../memberships/index.ts';
import { createNote, readNote } from '../../notes/index.ts';
import { readViewer } from '../../viewer.ts';
import { checkNewPerson, refuseDuplicate, type PersonValues } from '../rules.ts';
import { findByAddress, insertPerson, lockAddresses } from '../statements/create.ts';

export function createCreatePerson({
  jobs,
  idempotency,
  eventOutbox,
}: {
  jobs: Jobs;
  idempotency: IdempotencyStore;
  eventOutbox: EventOutbox;
}): Handler<typeof directory.rpcs.createPerson> {
  return async (request, context) => {
    const { actor } = context;
    const viewer = readViewer(actor);
    if (!viewer.seesAll) throw new AppError({ code: 'permission_denied', message: 'Creating people needs global edit access.' });
    const create = async (tx: Tx): Promise<RawJson> => {
      const values = checkNewPerson(request);
      const note = typeof request.note === 'string' ? readNote(request.note) : undefined;
      const { id, person } = await insertUnlessKnown(tx, values, request);
      await tellWritten(eventOutbox, tx, 'person', 'created', [id]);
      const membershipId = await join(eventOutbox, tx, id, request.membership);
      const noteJson = note === undefined ? 'null' : await attachNote(eventOutbox, tx, note, id, membershipId, request, actor);
      const membership = membershipId === undefined ? 'null' : await showMembership(tx, membershipId, viewer);
      await jobs.emit(tx, directory.events.peopleChanged, { ids: [id] });
      return rawJson(`{"person":${person},"membership":${membership},"note":${noteJson}}`);
    };
    return idempotency.run(context, request, create, { isAuthorized: true });
  };
}

/** Others who would create somebody with one of the addresses wait, so that they find this one. @throws AppError 409 */
async function insertUnlessKnown(tx: Tx, values: PersonValues, request: NewPerson): Promise<{ id: number; person: string }> {
  const { email, linkedin } = values.contact;
  if (email !== undefined || linkedin !== undefined) {
    await lockAddresses(tx, { email, linkedin });
    refuseDuplicate(await findByAddress(tx, { email, linkedin }), request);
  }
  const { name, description, photoUrl, actorKind, contact } = values;
  return insertPerson(tx, { name, description, photoUrl, actorKind, contact: JSON.stringify(contact) });
}

/** The membership's id; undefined when none is asked for. @throws AppError 400 */
async function join(eventOutbox: EventOutbox, tx: Tx, personId: number, wish: NewPerson['membership']): Promise<number | undefined> {
  if (wish === undefined || wish === null) return undefined;
  return createMembership(eventOutbox, tx, {
    personId,
    holonId: wish.holon_id,
    journeySlug: wish.journey_slug,
    stepSlug: wish.step_slug ?? undefined,
    followUpAfter: wish.follow_up_after,
    responsiblePersonId: wish.responsible_person_id,
  });
}

/** With a membership the note is on the person's and the holon's feed, without one on the person's alone. */
function attachNote(
  eventOutbox: EventOutbox,
  tx: Tx,
  text: string,
  personId: number,
  membershipId: number | undefined,
  { membership }: NewPerson,
  actor: Actor | undefined,
): Promise<string> {
  return createNote(eventOutbox, tx, {
    text,
    authorPersonId: actor?.kind === 'user' ? actor.personId : null,
    ...(membershipId === undefined ? {} : { membershipId }),
    personIds: [personId],
    holonIds: membershipId === undefined || membership === undefined || membership === null ? [] : [membership.holon_id],
  });
}
