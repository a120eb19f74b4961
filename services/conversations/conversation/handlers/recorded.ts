/** Handles POST /conversations/{id}/recorded (rules/conversations#recorded; D16a, D21, D22). */
import type { RequestOf } from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import { runOncePerKey } from '#libs/infrastructure/idempotency';
import { rawJson, type RawJson, type RequestContext } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { formatInstant, type Instant } from '#libs/infrastructure/time';
import { conversations } from '../../contract.ts';
import type { Dependencies, Operations } from '../../dependencies.ts';
import type { CachedJourney } from '../../directory-cache/index.ts';
import { conversationFeed } from '../../feed/index.ts';
import { requireExpectedUpdatedAt, findStoreProblem, requireId } from '../../guards.ts';
import { addNote, type ConversationRow, findConversation, lockConversation } from '../../statements.ts';
import { enterStep, windowCompleted } from '../../pipeline/index.ts';
import { toStoredJson } from '../../refusals.ts';
import {
  findBoundaryConflict,
  type IncomingWindow,
  invalidWindow,
  mergeRoomWindow,
  parseRoom,
  readBoundary,
  roomWindow,
  storedInstant,
} from '../../room/index.ts';
import { nextStep } from '../../directory-cache/index.ts';
import type { RecordedWrite } from '../contract.ts';
import { recordConversation, recordedKeys } from '../statements.ts';

export function createRecordedHandlers(dependencies: Dependencies): Pick<Operations, 'recorded'> {
  return {
    recorded: (request, context) => recorded(dependencies, request, context),
  };
}

interface RecordedCall {
  readonly id: number;
  readonly key: string | null;
  readonly write: RecordedWrite;
  readonly window: IncomingWindow;
  readonly journey: CachedJourney | undefined;
  readonly context: RequestContext;
}

/**
 * Advances the step, adds a note and merges the body. A key that is repeated within 24 hours changes nothing, but the
 * boundary of the request is checked.
 * @throws AppError 404; 400 for a boundary without an offset or with two different values; then under the lock 409
 * `stale_conversation`, 409 `transcript_boundary_conflict`, 400 `invalid_transcript_window`, 400
 * `invalid_namespace_placement`
 */
async function recorded(
  dependencies: Dependencies,
  request: RequestOf<typeof conversations.rpcs.recorded>,
  context: RequestContext,
): Promise<RawJson> {
  const { db, jobs, directory, view } = dependencies;
  const id = requireId(request.conversation_id);
  const before = await findConversation(db, { id });
  if (before === undefined) throw notFound();
  const window = { conversationStartedAt: undefined, captureEndedAt: readCaptureEnd(request.write) };
  // The journey is read before the lock, so that the row is not locked during a directory call. The journey of a
  // conversation rarely changes.
  const journeys = before.journey_id === null ? undefined : await directory.journeys.getMany([before.journey_id]);
  const journey = journeys?.get(before.journey_id ?? 0);
  const call: RecordedCall = { id, key: request.idempotency_key, write: request.write, window, journey, context };
  const row = await jobs.transaction((tx) => applyOnce(dependencies, tx, call));
  return rawJson(await view.render(row));
}

/** Returns the end of the recording, which has two field names. Both are accepted when their values agree (D22). */
function readCaptureEnd(write: RecordedWrite): Instant | undefined {
  const current = readBoundary('captureEndedAt', write.captureEndedAt);
  const alias = readBoundary('capture_ended_at', write.capture_ended_at);
  if (current !== undefined && alias !== undefined && current !== alias) {
    throw invalidWindow('captureEndedAt and capture_ended_at are different instants.');
  }
  return current ?? alias;
}

async function applyOnce(dependencies: Dependencies, tx: Tx, call: RecordedCall): Promise<ConversationRow> {
  const { id, key, window } = call;
  const row = await lockConversation(tx, { id });
  if (row === undefined) throw notFound();
  const replay = (): ConversationRow => {
    const conflict = findBoundaryConflict(roomWindow(parseRoom(row.room)), window);
    if (conflict !== undefined) throw conflict;
    return row;
  };
  const work = (): Promise<ConversationRow> => apply(dependencies, tx, row, call);
  return runOncePerKey(tx, { keys: recordedKeys, scopeId: id, operation: 'recorded', key }, work, replay);
}

async function apply(
  dependencies: Dependencies,
  tx: Tx,
  row: ConversationRow,
  call: RecordedCall,
): Promise<ConversationRow> {
  const { id, write, window, journey, context } = call;
  requireExpectedUpdatedAt(row, write.expected_updated_at);
  const merged = mergeRoomWindow(parseRoom(row.room), window);
  const problem = findStoreProblem(write);
  if (problem !== undefined) throw problem;
  const next = journey?.id === row.journey_id ? nextStep(journey?.steps ?? [], row.step_id) : undefined;
  const finish = storedInstant(roomWindow(merged.room).captureEndedAt) ?? dependencies.clock.now();
  const written = await recordConversation(tx, {
    id,
    stepId: next?.id ?? row.step_id,
    finish: formatInstant(finish),
    infos: toStoredJson('infos', write.infos),
    config: toStoredJson('config', write.config),
    room: merged.room === null ? null : JSON.stringify(merged.room),
  });
  if (written === undefined) throw notFound();
  const authorPersonId = context.actor?.kind === 'user' ? context.actor.personId : null;
  const body = describeAdvance(journey, row.step_id, next?.title);
  await addNote(tx, { conversationId: id, key: null, type: 'recorded', body, authorPersonId });
  dependencies.eventOutbox.add(tx, conversationFeed.recorded, { subject: id, data: {} });
  if (next !== undefined) await enterStep(dependencies, tx, id, { journey, step: next }, 'recorded', context);
  if (merged.windowCompleted) await windowCompleted(dependencies, tx, id, context, next?.pipelineJob);
  await dependencies.jobs.emit(tx, conversations.events.changed, { id });
  return written;
}

function describeAdvance(journey: CachedJourney | undefined, stepId: number | null, next: string | undefined): string {
  const current = journey?.steps.find((step) => step.id === stepId)?.title;
  if (next !== undefined)
    return current === undefined ? `Recorded; step: ${next}` : `Recorded; step: ${current} → ${next}`;
  return current === undefined ? 'Recorded' : `Recorded; step: ${current}`;
}
