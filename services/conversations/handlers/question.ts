/** POST /conversations/{id}/question-changes (rules/questions#record-a-change; D14 to D16a). */
import type { ReplyOf, RequestOf } from '#libs/contract';
import { appError, AppError, notFound } from '#libs/errors';
import { withOutcome, type TaggedReply } from '#libs/nats';
import type { Tx } from '#libs/orm';
import { formatInstant, parseInstant, type Instant } from '#libs/time';
import type { conversations } from '../contract.ts';
import { requireId } from '../conversation-view.ts';
import type { Dependencies } from '../dependencies.ts';
import type { CachedJourney } from '../directory/directory-cache.ts';
import { deriveQuestionState } from '../domain/question-state.ts';
import { parseSqlInstant } from '../domain/representation.ts';
import * as sql from '../repositories/question.ts';

type Reply = ReplyOf<typeof conversations.rpcs.recordQuestionChange>;

/** How far ahead of the server's time a change may lie (rules/http#limits). */
const futureToleranceMicros = 5n * 60_000_000n;

interface Attempt {
  readonly id: number;
  readonly key: string;
  readonly questionId: number;
  readonly occurredAt: Instant;
}

/**
 * Records a change once for each key and derives the question state anew, under the conversation's lock.
 * @throws AppError 404; then 409 `idempotency_conflict`; then, for a new key, 400 `question_not_in_journey`, 400 `occurred_at_in_future`
 */
export async function recordQuestionChange(
  dependencies: Dependencies,
  request: RequestOf<typeof conversations.rpcs.recordQuestionChange>,
): Promise<Reply | TaggedReply<Reply>> {
  const { db } = dependencies;
  const { questionId, occurredAt } = request.change;
  const attempt: Attempt = {
    id: requireId(request.conversation_id),
    key: request.idempotency_key,
    questionId,
    occurredAt: readOccurredAt(occurredAt),
  };
  const before = await findKeyed(db, attempt);
  const replay = findReplay(before, attempt);
  if (replay !== undefined) return replay;
  // Asked before the lock: nobody waits for the directory while holding it.
  const journey = await findJourney(dependencies, before.journey_id);
  return db.transaction(async (tx) => {
    await tx.query(sql.lockForQuestions, [attempt.id]);
    const current = await findKeyed(tx, attempt);
    const meanwhile = findReplay(current, attempt);
    if (meanwhile !== undefined) return meanwhile;
    const moved = current.journey_id !== before.journey_id;
    checkChange(dependencies, moved ? await findJourney(dependencies, current.journey_id) : journey, attempt);
    await tx.query(sql.addQuestionChange, [attempt.id, attempt.key, questionId, formatInstant(attempt.occurredAt)]);
    await deriveState(tx, attempt.id);
    return withOutcome(toReply(attempt, false), 'created');
  });
}

/** Writes the question state of a conversation whose row is locked. */
export async function deriveState(tx: Tx, id: number): Promise<void> {
  const rows = await tx.query<{ question_id: number; occurred_at: string }>(sql.listQuestionChanges, [id]);
  const arrived = rows.map((row) => ({ questionId: row.question_id, occurredAt: parseSqlInstant(row.occurred_at) }));
  await tx.query(sql.replaceQuestionState, [id, deriveQuestionState(arrived)]);
}

/** @throws AppError 404 */
async function findKeyed(db: Pick<Tx, 'query'>, { id, key }: Attempt): Promise<sql.KeyedChangeRow> {
  const [row] = await db.query<sql.KeyedChangeRow>(sql.findQuestionChange, [id, key]);
  if (row === undefined) throw notFound();
  return row;
}

async function findJourney({ directory }: Dependencies, id: number | null): Promise<CachedJourney | undefined> {
  return id === null ? undefined : (await directory.journeys.getMany([id])).get(id);
}

/** The answer to a key that is used; undefined when it is new. @throws AppError 409 `idempotency_conflict` */
function findReplay(row: sql.KeyedChangeRow, attempt: Attempt): Reply | undefined {
  if (row.question_id === null || row.occurred_at === null) return undefined;
  if (row.question_id !== attempt.questionId || parseSqlInstant(row.occurred_at) !== attempt.occurredAt) {
    throw appError('conflict', 'idempotency_conflict', 'The Idempotency-Key was used for another question change.');
  }
  return toReply(attempt, true);
}

function checkChange({ clock }: Dependencies, journey: CachedJourney | undefined, { questionId, occurredAt }: Attempt): void {
  if (journey?.questionIds.has(questionId) !== true) {
    throw appError('bad_request', 'question_not_in_journey', "The question does not belong to the conversation's journey.");
  }
  if (occurredAt > clock.now() + futureToleranceMicros) {
    const message = 'occurredAt is more than five minutes in the future.';
    throw appError('bad_request', 'occurred_at_in_future', message, { detail: message });
  }
}

function toReply({ id, questionId, occurredAt }: Attempt, replayed: boolean): Reply {
  return { ok: true, conversationId: id, questionId, occurredAt: formatInstant(occurredAt), replayed };
}

function readOccurredAt(text: string): Instant {
  const parsed = parseInstant(text);
  if (parsed.kind !== 'instant') throw new AppError({ code: 'unprocessable', message: 'occurredAt needs an offset.' });
  return parsed.instant;
}
