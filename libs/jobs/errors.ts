/** Errors that end an attempt, and what may be published about them. */
import { types } from 'node:util';
import { AppError } from '#libs/errors';
import { toStorableText } from '#libs/json';
import { truncateText } from '#libs/text';
import { sqlStateOf } from '#libs/orm';
import { redactText } from '#libs/redaction';

/** Retrying cannot help: the job is dead immediately, with this message. The message must not contain payload data. */
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

/** The worker no longer holds the lease: another worker has the job, or it was cancelled. Its effect is rolled back. */
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
 * The error text stored with a job: the message of an error made for it, with secrets redacted, otherwise only the
 * type. Messages of other errors may quote the data they failed on, as those of JSON parsers do.
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

/** Log fields of an unexpected error: type, code and stack frames, never its message. */
export function describeFault(error: unknown): Record<string, unknown> {
  return { fault: nameFault(error), reason: describeError(error), at: readFrames(error) };
}

/** The first frames of a stack. The message is cut off first, since it may look like frames. */
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
