/** Why a turn did not happen. Nothing of it is recorded; whoever asked for it may ask again. */
import type { ModelFailure } from '#libs/openai';

export type TurnFailureKind =
  /** The model gave no usable answer; `model` says why. */
  | 'no_answer'
  /** Deadline or signal, while waiting or thinking. */
  | 'out_of_time'
  /** The lease of the turn ran out, or the thread was deleted meanwhile. */
  | 'lost';

export class TurnFailure extends Error {
  override readonly name = 'TurnFailure';
  readonly kind: TurnFailureKind;
  readonly model: ModelFailure['kind'] | undefined;
  /** Seconds after which trying again makes sense. */
  readonly retryAfter: number;

  constructor(kind: TurnFailureKind, message: string, cause?: ModelFailure) {
    super(message, cause === undefined ? {} : { cause });
    this.kind = kind;
    this.model = cause?.kind;
    this.retryAfter = cause?.retryAfter ?? defaultRetryAfterSeconds;
  }
}

const defaultRetryAfterSeconds = 5;
