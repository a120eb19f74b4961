/**
 * Handlers of relationships: list of a holon, creation, updates and deletion (rules/memberships#relationship-list,
 * rules/memberships#updates; D46, D46a, D48, W3).
 */
import type { RequestOf } from '#libs/infrastructure/contract';
import { appError, badRequest } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import {
  type HandlersOf,
  type RawJson,
  rawJson,
  type RequestContext,
  type TaggedReply,
  withEtag,
} from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { Dependencies } from '../dependencies.ts';
import { emitRelationship } from '../events/index.ts';
import { bodyOf } from '../lists/index.ts';
import { createNote } from '../notes/index.ts';
import { readViewer } from '../visibility/index.ts';
import {
  checkNewWorkflow,
  deleteWorkflow,
  findJourney,
  lockHolonsOf,
  lockPeopleOf,
  updateWorkflow,
  type WorkflowDependencies,
  type WorkflowKind,
} from '../workflow/index.ts';
import { type relationshipRpcs, relationshipsPerPage } from './contract.ts';
import {
  findEqual,
  findRelationship,
  insertRelationship,
  listHolonRelationships,
  lockEnds,
  lockRelationship,
  readRelationship,
  removeRelationship,
  saveRelationship,
} from './statements.ts';

const relationship: WorkflowKind = {
  name: 'relationship',
  lock: lockRelationship,
  find: findRelationship,
  save: saveRelationship,
  read: readRelationship,
  remove: removeRelationship,
  emit: (eventOutbox, tx, what, id, { holonIds: [fromId = 0, toId = 0], journey_id, journey }) =>
    emitRelationship(eventOutbox, tx, what, id, { from_holon_id: fromId, to_holon_id: toId, journey_id, journey }),
};

export function createRelationshipHandlers(
  deps: Pick<Dependencies, 'db' | 'idempotency' | 'eventOutbox' | 'history'>,
): HandlersOf<typeof relationshipRpcs> {
  const { db, idempotency } = deps;
  return {
    listHolonRelationships: async ({ holon_id: holonId, limit = relationshipsPerPage, offset = 0 }, { actor }) =>
      bodyOf(await listHolonRelationships(db, { holonId, limit, offset, ...readViewer(actor) })),
    createRelationship: (request, context) =>
      idempotency.run(context, request, (tx) => createRelationship(deps, tx, request, context)),
    updateRelationship: (request, context) =>
      idempotency.run(context, request, (tx) => {
        const { relationship_id: id, ...update } = request;
        return updateWorkflow(deps, tx, relationship, id, update, context);
      }),
    deleteRelationship: ({ relationship_id: id, if_match: ifMatch }, context) =>
      db.transaction(async (tx) => {
        await deleteWorkflow(deps, tx, relationship, { id, ifMatch }, context);
        return {};
      }),
  };
}

async function createRelationship(
  { eventOutbox, history }: WorkflowDependencies,
  tx: Tx,
  request: RequestOf<typeof relationshipRpcs.createRelationship>,
  context: RequestContext,
): Promise<TaggedReply<RawJson>> {
  const { from_holon_id: fromId, to_holon_id: toId, journey_slug: slug, step_slug: stepSlug, note } = request;
  const { follow_up_after: followUpAfter, responsible_person_id: responsiblePersonId } = request;
  const { actor } = context;
  const authorPersonId = actor?.kind === 'user' ? actor.personId : null;
  await lockPeopleOf(tx, [responsiblePersonId, authorPersonId]);
  await lockHolonsOf(tx, [fromId, toId], actor);
  if (fromId === toId) throw badRequest('from_holon_id and to_holon_id must be different holons.');
  const journey = typeof slug === 'string' ? await findJourney(tx, fromId, slug) : undefined;
  if (journey === undefined && typeof stepSlug === 'string') throw badRequest('step_slug requires journey_slug.');
  const stepId = await checkNewWorkflow(tx, { stepSlug, followUpAfter, responsiblePersonId }, journey?.steps ?? []);
  const ends = { fromId, toId, journeyId: journey?.id };
  await lockEnds(tx, ends);
  const equal = await findEqual(tx, ends);
  if (equal !== undefined)
    throw appError('conflict', 'already_present', 'The holons have this relationship on that journey.', {
      relationship_id: equal.id,
    });
  const { id } = await insertRelationship(tx, { ...ends, stepId, followUpAfter, responsiblePersonId });
  const onJourney = { journey_id: journey?.id ?? null, journey: slug ?? null };
  emitRelationship(eventOutbox, tx, 'created', id, { from_holon_id: fromId, to_holon_id: toId, ...onJourney });
  history.created(tx, context, 'relationships', [id]);
  if (typeof note === 'string') {
    const about = { personIds: [], holonIds: [fromId, toId], relationshipId: id };
    await createNote(eventOutbox, tx, { text: note, authorPersonId, ...about });
  }
  const row = await readRelationship(tx, { id, ...readViewer(actor) });
  if (row === undefined) throw new Error(`relationship ${id} does not exist`);
  return withEtag(rawJson(`{"relationship":${row.body}}`), entityTag(row.tag));
}
