/** How an attempt of a job ends badly, and what may be told about it. */
import { types } from 'node:util';
import { AppError } from '#libs/errors';
import { toStorableText } from '#libs/json';
import { truncateText } from '#libs/text';
import { sqlStateOf } from '#libs/orm';
import { redactText } from '#libs/redaction';

/** Trying again cannot help: the job is dead at once, with this message. No payload content in it. */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';
}

/** Not now: the job is queued again and the attempt does not count. Without `delayMs` the policy's backoff decides. */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';
  readonly delayMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { delayMs?: number } = {}) {
    super(message, options);
    this.delayMs = options.delayMs;
  }
}

/** The worker no longer holds the job's lease: somebody else has the job, or it was cancelled. Its effect is rolled back. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor() {
    super('The lease of the job is lost');
  }
}

/** The attempt took longer than its policy allows. */
export class AttemptTimeout extends Error {
  override readonly name = 'AttemptTimeout';

  constructor(timeoutMs: number) {
    super(`The attempt did not end within ${timeoutMs} ms`);
  }
}

/** The process stops; the job is given back. */
export class WorkerStopping extends Error {
  override readonly name = 'WorkerStopping';

  constructor() {
    super('The worker stops');
  }
}

const maxErrorLength = 1000;

/**
 * The text stored with a failed job: the message of an error that was written for it, without secrets, else only the kind of fault. Messages of
 * other errors may quote the data they failed on (a JSON parser does), which must not leave the job.
 */
export function describeError(error: unknown): string {
  const ours =
    error instanceof AppError || error instanceof PermanentJobError || error instanceof RetryLater || error instanceof AttemptTimeout;
  return ours ? truncate(redactText(error.message.slice(0, maxErrorLength + 1))) : `Internal error (${nameFault(error)})`;
}

/** Facts of a fault for the log: kind, code and place, never its message. */
export function describeFault(error: unknown): Record<string, unknown> {
  return { fault: nameFault(error), reason: describeError(error), at: readFrames(error) };
}

/** The first places of a stack. The message before them is cut off as a whole: it may look like places. */
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
