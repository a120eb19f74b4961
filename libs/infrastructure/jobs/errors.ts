/** Errors that end an attempt, and the texts that may be stored about them. */
import { types } from 'node:util';
import { AppError } from '#libs/infrastructure/errors';
import { toStorableText } from '#libs/infrastructure/json';
import { truncateText } from '#libs/infrastructure/text';
import { sqlStateOf } from '#libs/infrastructure/orm';
import { redactText } from '#libs/infrastructure/redaction';

/**
 * Makes the job dead immediately, with this message, because a retry cannot succeed. The message must not contain
 * payload data.
 */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';
}

/** Queues the job again without counting the attempt. Without `delayMs` the backoff of the policy applies. */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';
  readonly delayMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { delayMs?: number } = {}) {
    super(message, options);
    this.delayMs = options.delayMs;
  }
}

/**
 * The worker no longer holds the lease: another worker claimed the job, or the job was cancelled. The effect of the
 * attempt is rolled back.
 */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor() {
    super('The lease of the job is lost');
  }
}

/** The attempt exceeded the timeout of its policy. */
export class AttemptTimeout extends Error {
  override readonly name = 'AttemptTimeout';

  constructor(timeoutMs: number) {
    super(`The attempt did not end within ${timeoutMs} ms`);
  }
}

/** The process stops; the job is released. */
export class WorkerStopping extends Error {
  override readonly name = 'WorkerStopping';

  constructor() {
    super('The worker stops');
  }
}

const maxErrorLength = 1000;

/**
 * Returns the error text that is stored with a job. For error classes of the platform it is the message with secrets
 * redacted, otherwise only the type: messages of other errors may quote data, as JSON parsers do.
 */
export function describeError(error: unknown): string {
  const ours =
    error instanceof AppError ||
    error instanceof PermanentJobError ||
    error instanceof RetryLater ||
    error instanceof AttemptTimeout;
  return ours
    ? truncate(redactText(error.message.slice(0, maxErrorLength + 1)))
    : `Internal error (${nameFault(error)})`;
}

/**
 * Returns log fields of an unexpected error: type, code and stack frames. The message of a foreign error is never
 * included.
 */
export function describeFault(error: unknown): Record<string, unknown> {
  return { fault: nameFault(error), reason: describeError(error), at: readFrames(error) };
}

/** Returns the first frames of a stack. The message is removed first, because its lines may look like frames. */
function readFrames(error: unknown): string[] {
  if (!types.isNativeError(error) || error.stack === undefined) return [];
  const start = error.message === '' ? 0 : error.stack.indexOf(error.message) + error.message.length;
  const lines = error.stack.slice(start).split('\n');
  return lines.flatMap((line) => (/^\s+at /.test(line) ? [line.trim()] : [])).slice(0, 8);
}

function nameFault(error: unknown): string {
  if (!types.isNativeError(error)) return 'not an error';
  const code = sqlStateOf(error);
  return code === undefined ? error.name : `${error.name} ${code}`;
}

function truncate(text: string): string {
  const clean = toStorableText(text);
  return clean.length <= maxErrorLength ? clean : `${truncateText(clean, maxErrorLength - 1)}…`;
}
