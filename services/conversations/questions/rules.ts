/** Derives order, active question and durations from recorded changes (rules/questions#record-a-change; D14a). */
import { formatInstant, type Instant } from '#libs/infrastructure/time';

export interface RecordedChange {
  readonly questionId: number;
  readonly occurredAt: Instant;
}

/**
 * Returns the JSON of `question_state`. Expects changes in the order in which they were received, and sorts them by
 * `occurred_at`, then by this order. The latest change has the active question. Durations are exact to the microsecond.
 */
export function deriveQuestionState(arrived: readonly RecordedChange[]): string {
  const changes = arrived.toSorted(({ occurredAt: left }, { occurredAt: right }) =>
    left < right ? -1 : left > right ? 1 : 0,
  );
  const items = changes.map(({ questionId, occurredAt }, index) => {
    const next = changes[index + 1];
    const duration = next === undefined ? 'null' : formatSeconds(next.occurredAt - occurredAt);
    return `{"question_id":${questionId},"occurred_at":"${formatInstant(occurredAt)}","duration_seconds":${duration}}`;
  });
  return `{"active_question_id":${changes.at(-1)?.questionId ?? 'null'},"changes":[${items.join(',')}]}`;
}

/** Returns microseconds as decimal seconds, without the precision loss of a double. */
function formatSeconds(micros: bigint): string {
  const fraction = (micros % 1_000_000n)
    .toString()
    .padStart(6, '0')
    .replace(/(?<!0)0+$/, '');
  return fraction === '' ? `${micros / 1_000_000n}` : `${micros / 1_000_000n}.${fraction}`;
}
