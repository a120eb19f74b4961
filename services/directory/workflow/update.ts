/** Updates of memberships and relationships: the moves and the note of one request, all or nothing (rules/memberships#updates; D46, D46a). */
import type { Actor, RequestOf } from '#libs/contract';
import { AppError, notFound } from '#libs/errors';
import { rawJson, type Handlers, type RawJson } from '#libs/nats';
import type { Database, Statement, Tx } from '#libs/orm';
import type { directory } from '../contract.ts';
import { checkFollowUp } from '../follow-up.ts';
import { readNote } from '../notes/rules.ts';
import { checkStepControls, chooseStep, type JourneyStep } from '../step-move.ts';
import { readViewer } from '../viewer.ts';
import {
  findMembership,
  findRelationship,
  lockMembership,
  lockRelationship,
  readMembership,
  readRelationship,
  saveMembership,
  saveRelationship,
  type WorkflowRow,
} from '../memberships/statements/writes.ts';
import { findJourneySteps } from './statements/facts.ts';
import { checkResponsible, createNote, findAllowedJourney, translateDuplicate } from '../memberships/new-membership.ts';

type UpdateHandlers = Pick<Handlers<typeof directory>, 'updateMembership' | 'updateRelationship'>;
/** A relationship has no `journey_slug` and no `responsible_person_id` to change. */
type Update = Omit<RequestOf<typeof directory.rpcs.updateMembership>, 'membership_id'>;

/** What differs between the two. */
interface Kind {
  readonly name: 'membership' | 'relationship';
  readonly lock: Statement;
  readonly find: Statement;
  readonly save: Statement;
  readonly read: Statement;
}

const membership: Kind = { name: 'membership', lock: lockMembership, find: findMembership, save: saveMembership, read: readMembership };
const relationship: Kind = {
  name: 'relationship',
  lock: lockRelationship,
  find: findRelationship,
  save: saveRelationship,
  read: readRelationship,
};

/** Where a row is, and where it goes. */
interface Place {
  readonly journeyId: number | null;
  readonly journeySlug: string | null;
  readonly stepId: number | null;
  readonly stepSlug: string | null;
  readonly followUpAfter: string | null;
  readonly responsiblePersonId: number | null;
}

export function createWorkflowUpdateHandlers(db: Database): UpdateHandlers {
  async function update(kind: Kind, id: number, request: Update, actor: Actor | undefined): Promise<RawJson> {
    try {
      return await db.transaction((tx) => updateRow(tx, kind, id, request, actor));
    } catch (error) {
      throw translateDuplicate(error);
    }
  }
  return {
    updateMembership: ({ membership_id: id, ...request }, { actor }) => update(membership, id, request, actor),
    updateRelationship: ({ relationship_id: id, ...request }, { actor }) => update(relationship, id, request, actor),
  };
}

/** Two updates of one row run one after the other: the second begins with what the first has left. */
async function updateRow(tx: Tx, kind: Kind, id: number, request: Update, actor: Actor | undefined): Promise<RawJson> {
  const viewer = readViewer(actor);
  const [, [row]] = await Promise.all([tx.query(kind.lock, [id]), tx.query<WorkflowRow>(kind.find, [id, ...viewer])]);
  if (row === undefined || !row.visible) throw notFound();
  if (!row.editable) throw new AppError({ code: 'permission_denied', message: `You may not edit this ${kind.name}.` });
  readNote(request.note);
  checkFollowUp(request.follow_up_after);
  checkStepControls(request);
  const before = placeOf(row);
  const after = await move(tx, row, before, request);
  const changed = JSON.stringify(after) !== JSON.stringify(before);
  const { journeyId, stepId, followUpAfter, responsiblePersonId } = after;
  const [, note, [shown]] = await Promise.all([
    changed ? tx.query(kind.save, [id, journeyId, stepId, followUpAfter, responsiblePersonId]) : undefined,
    createNote(tx, {
      text: request.note,
      authorPersonId: actor?.kind === 'user' ? actor.personId : null,
      ...(kind === membership ? { membershipId: id } : { relationshipId: id }),
      personIds: row.person_ids,
      holonIds: row.holon_ids,
    }),
    tx.query<{ body: string }>(kind.read, [id, ...viewer]),
  ]);
  if (shown === undefined) throw new Error(`${kind.name} ${id} is not there`);
  return rawJson(`{"${kind.name}":${shown.body},"note":${note},"changes":${JSON.stringify(listChanges(before, after))}}`);
}

function placeOf(row: WorkflowRow): Place {
  return {
    journeyId: row.journey_id,
    journeySlug: row.journey_slug,
    stepId: row.step_id,
    stepSlug: row.step_slug,
    followUpAfter: row.follow_up_after,
    responsiblePersonId: row.responsible_person_id,
  };
}

async function move(tx: Tx, row: WorkflowRow, before: Place, request: Update): Promise<Place> {
  const [holonId = 0] = row.holon_ids;
  const { journey_slug: slug, responsible_person_id: responsible } = request;
  const leaves = slug !== undefined && slug !== before.journeySlug;
  const journey = leaves
    ? { ...(await findAllowedJourney(tx, holonId, slug)), slug }
    : { id: before.journeyId, slug: before.journeySlug, steps: await listSteps(tx, before.journeyId, request) };
  const step = chooseStep(request, journey.steps, before.stepId);
  await checkResponsible(tx, responsible);
  return {
    journeyId: journey.id,
    journeySlug: journey.slug,
    stepId: step?.id ?? before.stepId,
    stepSlug: step?.slug ?? before.stepSlug,
    followUpAfter: request.follow_up_after === undefined ? before.followUpAfter : request.follow_up_after,
    responsiblePersonId: responsible === undefined ? before.responsiblePersonId : responsible,
  };
}

/** Steps of the present journey, where the request asks for a move. */
async function listSteps(tx: Tx, journeyId: number | null, request: Update): Promise<readonly JourneyStep[]> {
  if (journeyId === null || (request.step_slug === undefined && request.advance_step !== true)) return [];
  const [found] = await tx.query<{ steps: string }>(findJourneySteps, [journeyId]);
  return JSON.parse(found?.steps ?? '[]') as JourneyStep[];
}

/** What changed, as old and new; a step is another one even when it has the same slug (D46a). */
function listChanges(before: Place, after: Place): Record<string, { old: string | null; new: string | null }> {
  return {
    ...(before.journeyId === after.journeyId ? {} : { journey: { old: before.journeySlug, new: after.journeySlug } }),
    ...(before.stepId === after.stepId ? {} : { current_step: { old: before.stepSlug, new: after.stepSlug } }),
    ...(before.followUpAfter === after.followUpAfter ? {} : { follow_up_after: { old: before.followUpAfter, new: after.followUpAfter } }),
  };
}
