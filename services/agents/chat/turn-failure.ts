/** Why a turn did not happen. Nothing of it is recorded; whoever asked for it may ask again. */
export type TurnFailureKind =
  /** The model gave no usable answer. */
  | 'no_answer'
  /** The agent has used its tokens of the day: the model was not asked. */
  | 'over_budget'
  /** Deadline or signal, while waiting or thinking. */
  | 'out_of_time'
  /** The lease of the turn ran out, or the thread was deleted meanwhile. */
  | 'lost';

export class TurnFailure extends Error {
  override readonly name = 'TurnFailure';
  readonly kind: TurnFailureKind;
  /** Seconds after which trying again makes sense. */
  readonly retryAfter: number;

  constructor(kind: TurnFailureKind, message: string, cause?: Error & { readonly retryAfter: number | undefined }) {
    super(message, cause === undefined ? {} : { cause });
    this.kind = kind;
    this.retryAfter = cause?.retryAfter ?? defaultRetryAfterSeconds;
  }
}

const defaultRetryAfterSeconds = 5;
