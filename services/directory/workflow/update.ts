/**
 * Updates of memberships and relationships with a note, in one transaction, and their deletion
 * (rules/memberships#updates; D46, D46a, W3).
 */
import { type Actor, isPossibleId, type Static, type TObject } from '#libs/infrastructure/contract';
import { AppError, badRequest, notFound } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { HistoryContext } from '#libs/product/history';
import { rawJson, type RawJson, type TaggedReply, withEtag } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { ParamsOf, Queryable, RowOf } from '#libs/infrastructure/sql';
import type { DirectoryHistory } from '../history/index.ts';
import { checkIfMatch } from '../lists/index.ts';
import { createNote, readNote } from '../notes/index.ts';
import { lockPeopleForShare } from '../person-rows/index.ts';
import { readViewer } from '../visibility/index.ts';
import type { workflowUpdateFields } from './contract.ts';
import { checkFollowUp, checkStepControls, chooseStep, type JourneyStep } from './rules.ts';
import {
  findJourneysFor,
  findJourneySteps,
  findPeople,
  type rowParams,
  type stateParams,
  type WorkflowRow,
  type writtenRow,
} from './statements.ts';

/**
 * Fields of an update request without the id. Relationships have no `journey_slug` and no `responsible_person_id` to
 * change.
 */
export type WorkflowUpdate = Static<TObject<typeof workflowUpdateFields>> & {
  readonly if_match?: string | null | undefined;
  readonly responsible_person_id?: number | null | undefined;
  readonly journey_slug?: string | undefined;
};

/** Differences between memberships and relationships. */
export interface WorkflowKind {
  readonly name: 'membership' | 'relationship';
  readonly lock: (tx: Tx, row: { readonly id: number }) => Promise<void>;
  readonly find: (tx: Tx, params: ParamsOf<typeof rowParams>) => Promise<WorkflowRow | undefined>;
  readonly save: (tx: Tx, state: ParamsOf<typeof stateParams>) => Promise<void>;
  readonly read: (tx: Tx, params: ParamsOf<typeof rowParams>) => Promise<WrittenRow | undefined>;
  readonly remove: (tx: Tx, row: { readonly id: number }) => Promise<void>;
  /** Emits the feed event of the change. */
  readonly emit: (eventOutbox: EventOutbox, tx: Tx, what: 'updated' | 'deleted', id: number, is: WorkflowEvent) => void;
}

export type WrittenRow = RowOf<typeof writtenRow>;
export interface WorkflowDependencies {
  readonly eventOutbox: EventOutbox;
  readonly history: DirectoryHistory;
}

/** Values of the feed event. */
export interface WorkflowEvent {
  readonly personIds: readonly number[];
  readonly holonIds: readonly number[];
  readonly journey_id: number | null;
  readonly journey: string | null;
}

/** Position and follow-up values of a row, before or after an update. */
interface WorkflowState {
  readonly journeyId: number | null;
  readonly journeySlug: string | null;
  readonly stepId: number | null;
  readonly stepSlug: string | null;
  readonly followUpAfter: string | null;
  readonly responsiblePersonId: number | null;
}

/** Updates a row. Concurrent updates of a row run one after the other, and each sees the result of the previous one. */
export async function updateWorkflow(
  { eventOutbox, history }: WorkflowDependencies,
  tx: Tx,
  kind: WorkflowKind,
  id: number,
  request: WorkflowUpdate,
  context: HistoryContext,
): Promise<TaggedReply<RawJson>> {
  const viewer = readViewer(context.actor);
  const authorPersonId = personOf(context.actor);
  const row = await lockEditable(tx, kind, id, context.actor, [request.responsible_person_id, authorPersonId]);
  await checkTag(tx, kind, id, request.if_match);
  readNote(request.note);
  checkFollowUp(request.follow_up_after);
  checkStepControls(request);
  const before = stateOf(row);
  const after = await move(tx, row, before, request);
  const changed = JSON.stringify(after) !== JSON.stringify(before);
  const { journeyId, stepId, followUpAfter, responsiblePersonId } = after;
  if (changed) {
    const { person_ids: personIds, holon_ids: holonIds } = row;
    kind.emit(eventOutbox, tx, 'updated', id, {
      personIds,
      holonIds,
      journey_id: journeyId,
      journey: after.journeySlug,
    });
  }
  const [, , note, updated] = await tx.pipeline(
    async () => {
      if (changed) await history.recordChanges(tx, context, listOf[kind.name], [id]);
    },
    async () => {
      if (changed) await kind.save(tx, { id, journeyId, stepId, followUpAfter, responsiblePersonId });
    },
    () =>
      createNote(eventOutbox, tx, {
        text: request.note,
        authorPersonId,
        ...(kind.name === 'membership' ? { membershipId: id } : { relationshipId: id }),
        personIds: row.person_ids,
        holonIds: row.holon_ids,
      }),
    () => kind.read(tx, { id, ...viewer }),
  );
  if (updated === undefined) throw new Error(`${kind.name} ${id} does not exist`);
  const reply = rawJson(
    `{"${kind.name}":${updated.body},"note":${note},"changes":${JSON.stringify(listChanges(before, after))}}`,
  );
  return withEtag(reply, entityTag(updated.tag));
}

/** Deletes a row. Its notes remain in the feeds. @throws AppError 403, 404, 412 */
export async function deleteWorkflow(
  { eventOutbox, history }: WorkflowDependencies,
  tx: Tx,
  kind: WorkflowKind,
  { id, ifMatch }: { readonly id: number; readonly ifMatch: string | null | undefined },
  context: HistoryContext,
): Promise<void> {
  const row = await lockEditable(tx, kind, id, context.actor, []);
  await checkTag(tx, kind, id, ifMatch);
  const { person_ids: personIds, holon_ids: holonIds, journey_id, journey_slug: journey } = row;
  kind.emit(eventOutbox, tx, 'deleted', id, { personIds, holonIds, journey_id, journey });
  await history.recordChanges(tx, context, listOf[kind.name], [id]);
  await kind.remove(tx, { id });
}

/** Kinds of history by row. */
const listOf = { membership: 'memberships', relationship: 'relationships' } as const;

/** Locks the row and these people. @throws AppError 404 for an invisible row, 403 without the right to edit it */
async function lockEditable(
  tx: Tx,
  kind: WorkflowKind,
  id: number,
  actor: Actor | undefined,
  people: readonly (number | null | undefined)[],
): Promise<WorkflowRow> {
  if (!isPossibleId(id)) throw notFound();
  const personIds = people.map((personId) => personId ?? 0).filter(isPossibleId);
  const [, , row] = await tx.pipeline(
    () => lockPeopleForShare(tx, { personIds, membershipId: kind.name === 'membership' ? id : null }),
    () => kind.lock(tx, { id }),
    () => kind.find(tx, { id, ...readViewer(actor) }),
  );
  if (row === undefined || !row.visible) throw notFound();
  if (!row.editable) throw new AppError({ code: 'permission_denied', message: `You cannot edit this ${kind.name}.` });
  return row;
}

/** @throws AppError 412 unless the tag is that of the row */
function checkTag(tx: Tx, kind: WorkflowKind, id: number, ifMatch: string | null | undefined): Promise<void> {
  return checkIfMatch(ifMatch, async () => {
    const row = await kind.read(tx, { id, seesAll: true, accountId: null });
    return row === undefined ? undefined : { body: row.tag };
  });
}

const personOf = (actor: Actor | undefined): number | null => (actor?.kind === 'user' ? actor.personId : null);

function stateOf(row: WorkflowRow): WorkflowState {
  return {
    journeyId: row.journey_id,
    journeySlug: row.journey_slug,
    stepId: row.step_id,
    stepSlug: row.step_slug,
    followUpAfter: row.follow_up_after,
    responsiblePersonId: row.responsible_person_id,
  };
}

async function move(tx: Tx, row: WorkflowRow, before: WorkflowState, request: WorkflowUpdate): Promise<WorkflowState> {
  const [holonId = 0] = row.holon_ids;
  const { journey_slug: slug, responsible_person_id: responsible } = request;
  const changesJourney = slug !== undefined && slug !== before.journeySlug;
  const journey = changesJourney
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

/** Returns the steps of the current journey, if the request moves the row to another step. */
async function listSteps(tx: Tx, journeyId: number | null, request: WorkflowUpdate): Promise<readonly JourneyStep[]> {
  if (journeyId === null || (request.step_slug === undefined && request.advance_step !== true)) return [];
  const { steps } = await findJourneySteps(tx, { journeyId });
  return JSON.parse(steps) as JourneyStep[];
}

/** Returns the changed fields with old and new values. Steps are compared by id, not by slug (D46a). */
function listChanges(
  before: WorkflowState,
  after: WorkflowState,
): Record<string, { old: string | null; new: string | null }> {
  return {
    ...(before.journeyId === after.journeyId ? {} : { journey: { old: before.journeySlug, new: after.journeySlug } }),
    ...(before.stepId === after.stepId ? {} : { current_step: { old: before.stepSlug, new: after.stepSlug } }),
    ...(before.followUpAfter === after.followUpAfter
      ? {}
      : { follow_up_after: { old: before.followUpAfter, new: after.followUpAfter } }),
  };
}

/** Checks the responsible person. @throws AppError 400 unless the person has an account (rules/memberships#updates) */
export async function checkResponsible(tx: Queryable, personId: number | null | undefined): Promise<void> {
  if (personId === null || personId === undefined) return;
  const [person] = isPossibleId(personId) ? await findPeople(tx, { ids: [personId] }) : [];
  if (person?.has_account !== true) throw badRequest('responsible_person_id must be a person with a user account.');
}

/**
 * Returns a journey with its steps. @param holonId holon for whose class `allowed` is decided. @throws AppError 400
 * when it is unknown
 */
export async function findJourney(
  tx: Queryable,
  holonId: number,
  slug: string,
): Promise<{ id: number; allowed: boolean; steps: readonly JourneyStep[] }> {
  const [journey] = await findJourneysFor(tx, { holonId, slugs: [slug] });
  if (journey === undefined) throw badRequest(`The journey "${slug}" does not exist.`);
  return { ...journey, steps: JSON.parse(journey.steps) as JourneyStep[] };
}

/**
 * Returns a journey of the effective catalogue of the holon's class, with its steps. @throws AppError 400 when it is
 * unknown or not in the catalogue
 */
export async function findAllowedJourney(
  tx: Queryable,
  holonId: number,
  slug: string,
): Promise<{ id: number; steps: readonly JourneyStep[] }> {
  const { id, allowed, steps } = await findJourney(tx, holonId, slug);
  if (!allowed) throw badRequest(`The journey "${slug}" is not in the catalogue of the holon's class.`);
  return { id, steps };
}
