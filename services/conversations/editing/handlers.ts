/** Creates, changes, deletes and restores conversations over HTTP (rules/conversations#set-up; W8, W22, D67). */
import { recordAudit } from '#libs/infrastructure/audit';
import type { ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { appError, notFound } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import { rawJson, type RawJson, type RequestContext, type TaggedReply, withEtag } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { formatInstant } from '#libs/infrastructure/time';
import { conversations } from '../contract.ts';
import { deleteConversation, findAnyConversation, restoreDeleted } from '../deletion/index.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import { type CachedJourney, firstStep, type JourneyStep } from '../directory-cache/index.ts';
import { emitAccessUpdated, emitCreated, emitUpdated } from '../feed/index.ts';
import { findStoreProblem, requireId, requireMatch } from '../guards.ts';
import { enterStep } from '../pipeline/index.ts';
import { holdReferences } from '../references.ts';
import { toStoredJson } from '../refusals.ts';
import { idsFromSql } from '../representation.ts';
import { addNote, type ConversationRow, findConversation, lockConversation } from '../statements.ts';
import { invalidField, noCurrent, type References, resolveReferences } from './references.ts';
import { type EditableValues, findTimesProblem, formatTime, listChanged, readTime, readValues } from './rules.ts';
import * as statements from './statements.ts';

type Rpcs = typeof conversations.rpcs;
type Reply = RawJson | TaggedReply<RawJson>;

export function createEditingHandlers(
  deps: Dependencies,
): Pick<Operations, 'createConversation' | 'updateConversation' | 'deleteConversation' | 'restoreConversation'> {
  return {
    createConversation: (request, context) => create(deps, request, context),
    updateConversation: (request, context) => update(deps, request, context),
    deleteConversation: (request, context) => remove(deps, request, context),
    restoreConversation: (request, context) => restore(deps, request, context),
  };
}

/** @throws AppError 403 `coherence_access_required`; 400 for references, times and reserved keys; 413 */
async function create(
  deps: Dependencies,
  request: RequestOf<Rpcs['createConversation']>,
  context: RequestContext,
): Promise<Reply> {
  const plan = await settle(() => planNew(deps, request, context));
  return deps.idempotency.run(context, request, async (tx) => {
    const { journey, step, ...values } = plan();
    const { journeyId, stepId, eventId, connectedIds } = values;
    await holdReferences(deps, tx, { journeyId, stepId, holonIds: [eventId, ...connectedIds] });
    const row = await statements.createConversation(tx, values);
    emitCreated(deps.eventOutbox, tx, row, journey);
    await enterStep(deps, tx, row.id, { journey, step }, 'created', context);
    return render(deps, row);
  });
}

type NewValues = Parameters<typeof statements.createConversation>[1];

async function planNew(
  deps: Dependencies,
  request: RequestOf<Rpcs['createConversation']>,
  context: RequestContext,
): Promise<NewValues & { readonly journey: CachedJourney; readonly step: JourneyStep | undefined }> {
  const [journey, named] = await Promise.all([
    deps.directory.findJourneyBySlug(request.journey_slug),
    resolveReferences(deps, request, noCurrent, context),
  ]);
  const [owner = null, ...others] = journey?.ownerEventIds ?? [];
  const eventId = named.eventId === undefined ? (others.length === 0 ? owner : null) : named.eventId;
  await deps.access.requireEditor(eventId, context);
  if (journey?.isConversation !== true)
    throw invalidField(`journey_slug: no conversation journey has the slug "${request.journey_slug}".`);
  const step = request.step_slug === undefined ? firstStep(journey.steps) : requireStep(journey, request.step_slug);
  const times = { start: readTime(request.start) ?? null, finish: readTime(request.finish) ?? null };
  const problem = findTimesProblem(times) ?? findStoreProblem(request);
  if (problem !== undefined) throw problem;
  return {
    journey,
    step,
    journeyId: journey.id,
    stepId: step?.id ?? null,
    eventId,
    start: formatTime(times.start),
    finish: formatTime(times.finish),
    participantIds: named.participantIds ?? [],
    connectedIds: named.connectedIds ?? [],
    infos: toStoredJson('infos', request.infos),
    config: toStoredJson('config', request.config),
  };
}

function requireStep(journey: CachedJourney | undefined, slug: string): JourneyStep {
  const step = journey?.steps.find((own) => own.slug === slug);
  if (step === undefined) throw invalidField(`step_slug: the journey has no step "${slug}".`);
  return step;
}

/**
 * @throws AppError 404, 403 `coherence_access_required`, 412 `precondition_failed`, then 400 for references and times
 */
async function update(
  deps: Dependencies,
  request: RequestOf<Rpcs['updateConversation']>,
  context: RequestContext,
): Promise<Reply> {
  const id = requireId(request.conversation_id);
  const before = await findConversation(deps.db, { id });
  if (before === undefined) throw notFound();
  await deps.access.requireEditor(before.event_id, context);
  // References are resolved before the lock, so that the row is not locked during calls of the directory.
  const plan = await settle(() => planUpdate(deps, request, before, context));
  return deps.idempotency.run(context, request, async (tx) => {
    const row = await lockConversation(tx, { id });
    if (row === undefined) throw notFound();
    if (row.event_id !== before.event_id) await deps.access.requireEditor(row.event_id, context);
    if (typeof request.if_match === 'string') requireMatch(row, await deps.view.render(row), request.if_match);
    return render(deps, await applyUpdate(deps, tx, row, plan(), context));
  });
}

interface UpdatePlan extends References {
  readonly start: EditableValues['start'] | undefined;
  readonly finish: EditableValues['finish'] | undefined;
  readonly journey: CachedJourney | undefined;
  /** Step to enter; undefined: none. */
  readonly step: JourneyStep | undefined;
}

async function planUpdate(
  deps: Dependencies,
  request: RequestOf<Rpcs['updateConversation']>,
  row: ConversationRow,
  context: RequestContext,
): Promise<UpdatePlan> {
  const current = {
    eventId: row.event_id,
    participantIds: idsFromSql(row.participants),
    connectedIds: idsFromSql(row.connected),
  };
  const [journeys, named] = await Promise.all([
    deps.directory.journeys.getMany(row.journey_id === null ? [] : [row.journey_id]),
    resolveReferences(deps, request, current, context),
  ]);
  if (named.eventId !== undefined) await deps.access.requireEditor(named.eventId, context);
  const journey = journeys.get(row.journey_id ?? 0);
  return {
    ...named,
    start: readTime(request.start),
    finish: readTime(request.finish),
    journey,
    step: request.step_slug === undefined ? undefined : requireStep(journey, request.step_slug),
  };
}

/** Writes the planned values to the locked conversation. Without a difference nothing is written (D9a). */
async function applyUpdate(
  deps: Dependencies,
  tx: Tx,
  row: ConversationRow,
  plan: UpdatePlan,
  context: RequestContext,
): Promise<ConversationRow> {
  const { id } = row;
  const { journey, step } = plan;
  const stored = readValues(row);
  const next: EditableValues = {
    start: plan.start === undefined ? stored.start : plan.start,
    finish: plan.finish === undefined ? stored.finish : plan.finish,
    participant_ids: plan.participantIds ?? stored.participant_ids,
    connected_slugs: plan.connectedIds ?? stored.connected_slugs,
    event_slug: plan.eventId === undefined ? stored.event_slug : plan.eventId,
    step_slug: step?.id ?? stored.step_slug,
  };
  const problem = plan.start === undefined && plan.finish === undefined ? undefined : findTimesProblem(next);
  if (problem !== undefined) throw problem;
  const changed = listChanged(stored, next);
  if (changed.length === 0) return row;
  const entered = changed.includes('step_slug') ? step : undefined;
  await holdReferences(deps, tx, {
    journeyId: entered === undefined ? null : row.journey_id,
    stepId: entered?.id,
    holonIds: [plan.eventId, ...(plan.connectedIds ?? [])],
  });
  const written = await statements.saveConversation(tx, {
    id,
    eventId: next.event_slug,
    stepId: next.step_slug,
    start: formatTime(next.start),
    finish: formatTime(next.finish),
    participantIds: next.participant_ids,
    connectedIds: next.connected_slugs,
  });
  if (changed.includes('event_slug') || changed.includes('participant_ids'))
    await emitAccessUpdated(deps.eventOutbox, tx, [id]);
  else if (changed.some((name) => name !== 'step_slug')) emitUpdated(deps.eventOutbox, tx, id);
  if (entered !== undefined) {
    const from = journey?.steps.find((own) => own.id === row.step_id)?.title ?? 'no step';
    const authorPersonId = context.actor?.kind === 'user' ? context.actor.personId : null;
    const body = `Moved: ${from} → ${entered.title}`;
    await addNote(tx, { conversationId: id, key: null, type: 'step_change', body, authorPersonId });
    await enterStep(deps, tx, id, { journey, step: entered }, 'update', context);
  }
  await deps.jobs.emit(tx, conversations.events.changed, { id }, { requestId: context.requestId });
  recordAudit(tx, context, { target: { type: 'conversation', id }, changes: { fields: changed } });
  return written;
}

/** @throws AppError 404, 403 `coherence_access_required`, 412 `precondition_failed` */
async function remove(
  deps: Dependencies,
  request: RequestOf<Rpcs['deleteConversation']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['deleteConversation']>> {
  const id = requireId(request.conversation_id);
  const before = await findConversation(deps.db, { id });
  if (before === undefined) throw notFound();
  await deps.access.requireEditor(before.event_id, context);
  await deps.jobs.transaction(async (tx) => {
    const row = await lockConversation(tx, { id });
    if (row === undefined) throw notFound();
    if (row.event_id !== before.event_id) await deps.access.requireEditor(row.event_id, context);
    if (typeof request.if_match === 'string') requireMatch(row, await deps.view.render(row), request.if_match);
    const at = formatInstant(deps.clock.now());
    await deleteConversation(deps, tx, { id, at, reason: 'account', by: describeActor(context) });
    await deps.jobs.emit(tx, conversations.events.changed, { id }, { requestId: context.requestId });
    recordAudit(tx, context, { target: { type: 'conversation', id } });
  });
  return { conversation_id: id };
}

/** @throws AppError 404, 403 `coherence_access_required`, 409 `not_deleted` */
async function restore(
  deps: Dependencies,
  request: RequestOf<Rpcs['restoreConversation']>,
  context: RequestContext,
): Promise<Reply> {
  const id = requireId(request.conversation_id);
  const row = await findAnyConversation(deps.db, { id });
  await deps.access.requireRestorer(row, context);
  if (row === undefined) throw notFound();
  return deps.idempotency.run(context, request, async (tx) => {
    const by = describeActor(context);
    const restored = await restoreDeleted(deps, tx, { id, by, requestId: context.requestId });
    const current = await findConversation(tx, { id });
    if (current === undefined) throw notFound();
    if (restored === undefined) throw appError('conflict', 'not_deleted', `Conversation ${id} is not deleted.`);
    recordAudit(tx, context, { target: { type: 'conversation', id } });
    return render(deps, current);
  });
}

const describeActor = ({ actor }: RequestContext): string =>
  actor?.kind === 'user' ? `account ${actor.accountId}` : 'the API';

async function render({ view }: Dependencies, row: ConversationRow): Promise<TaggedReply<RawJson>> {
  const text = await view.render(row);
  return withEtag(rawJson(text), entityTag(text));
}

/**
 * Runs work before a transaction and returns a function with its result. An error of the work is thrown by that function,
 * so that it is stored under the request's Idempotency-Key.
 */
async function settle<Result>(work: () => Promise<Result>): Promise<() => Result> {
  try {
    const result = await work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
