/** Handles POST /conversations/{id}/question-changes (rules/questions#record-a-change; D14 to D16a). */
import type { ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { AppError, appError, notFound } from '#libs/infrastructure/errors';
import { type TaggedReply, withOutcome } from '#libs/infrastructure/nats';
import type { Queryable } from '#libs/infrastructure/sql';
import { formatInstant, type Instant, parseInstant } from '#libs/infrastructure/time';
import type { conversations } from '../contract.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import type { CachedJourney } from '../directory-cache/index.ts';
import { conversationFeed } from '../feed/index.ts';
import { requireId } from '../guards.ts';
import { parseSqlInstant } from '../representation.ts';
import { deriveState } from './index.ts';
import { addQuestionChange, findQuestionChange, type KeyedChangeRow, lockForQuestions } from './statements.ts';

type Reply = ReplyOf<typeof conversations.rpcs.recordQuestionChange>;

/** Maximum time by which a change can be in the future (rules/http#limits). */
const futureToleranceMicros = 5n * 60_000_000n;

export function createQuestionHandlers(dependencies: Dependencies): Pick<Operations, 'recordQuestionChange'> {
  return {
    recordQuestionChange: (request) => recordQuestionChange(dependencies, request),
  };
}

interface NewChange {
  readonly id: number;
  readonly key: string;
  readonly questionId: number;
  readonly occurredAt: Instant;
}

/**
 * Records a change once per key and derives the question state under the conversation's lock.
 * @throws AppError 404; then 409 `idempotency_conflict`; then, for a new key, 400 `question_not_in_journey`, 400
 * `occurred_at_in_future`
 */
async function recordQuestionChange(
  dependencies: Dependencies,
  request: RequestOf<typeof conversations.rpcs.recordQuestionChange>,
): Promise<Reply | TaggedReply<Reply>> {
  const { db, eventOutbox } = dependencies;
  const { questionId, occurredAt } = request.change;
  const change: NewChange = {
    id: requireId(request.conversation_id),
    key: request.idempotency_key,
    questionId,
    occurredAt: readOccurredAt(occurredAt),
  };
  const before = await findKeyed(db, change);
  const replay = findReplay(before, change);
  if (replay !== undefined) return replay;
  // The journey is read before the lock, so that the row is not locked during a directory call.
  const journey = await findJourney(dependencies, before.journey_id);
  return db.transaction(async (tx) => {
    await lockForQuestions(tx, { conversationId: change.id });
    const current = await findKeyed(tx, change);
    const meanwhile = findReplay(current, change);
    if (meanwhile !== undefined) return meanwhile;
    const moved = current.journey_id !== before.journey_id;
    checkChange(dependencies, moved ? await findJourney(dependencies, current.journey_id) : journey, change);
    const { id, key } = change;
    await addQuestionChange(tx, { conversationId: id, key, questionId, occurredAt: formatInstant(change.occurredAt) });
    await deriveState(tx, change.id);
    eventOutbox.add(tx, conversationFeed.questionChanged, { subject: id, data: { question_id: questionId } });
    return withOutcome(toReply(change, false), 'created');
  });
}

/** Returns the conversation's journey, and the change with the key if it exists. @throws AppError 404 */
async function findKeyed(db: Queryable, { id, key }: NewChange): Promise<KeyedChangeRow> {
  const row = await findQuestionChange(db, { conversationId: id, key });
  if (row === undefined) throw notFound();
  return row;
}

async function findJourney({ directory }: Dependencies, id: number | null): Promise<CachedJourney | undefined> {
  return id === null ? undefined : (await directory.journeys.getMany([id])).get(id);
}

/**
 * Returns the reply for a key that was already used; returns undefined for a new key. @throws AppError 409
 * `idempotency_conflict`
 */
function findReplay(row: KeyedChangeRow, change: NewChange): Reply | undefined {
  if (row.question_id === null || row.occurred_at === null) return undefined;
  if (row.question_id !== change.questionId || parseSqlInstant(row.occurred_at) !== change.occurredAt) {
    throw appError('conflict', 'idempotency_conflict', 'The Idempotency-Key was used for another question change.');
  }
  return toReply(change, true);
}

function checkChange(
  { clock }: Dependencies,
  journey: CachedJourney | undefined,
  { questionId, occurredAt }: NewChange,
): void {
  if (journey?.questionIds.has(questionId) !== true) {
    throw appError(
      'bad_request',
      'question_not_in_journey',
      "The question does not belong to the conversation's journey.",
    );
  }
  if (occurredAt > clock.now() + futureToleranceMicros) {
    const message = 'occurredAt is more than five minutes in the future.';
    throw appError('bad_request', 'occurred_at_in_future', message, { detail: message });
  }
}

function toReply({ id, questionId, occurredAt }: NewChange, replayed: boolean): Reply {
  return { ok: true, conversationId: id, questionId, occurredAt: formatInstant(occurredAt), replayed };
}

function readOccurredAt(text: string): Instant {
  const parsed = parseInstant(text);
  if (parsed.kind !== 'instant') throw new AppError({ code: 'unprocessable', message: 'occurredAt needs an offset.' });
  return parsed.instant;
}
