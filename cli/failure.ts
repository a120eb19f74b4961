/** Why a command failed: its text for a terminal, its JSON for a program, and the status that the process ends with. */
import { types } from 'node:util';
import { CommanderError } from 'commander';
import { AppError, describeWithCause } from '#libs/errors';

const exitCodes = { failed: 1, invalid_workspace: 1, not_found: 1, unavailable: 1, usage: 2, interrupted: 130 } as const;

type Details = Readonly<Record<string, unknown>>;

/** A failure whose text is all that a user needs. */
export class CliError extends Error {
  readonly code: keyof typeof exitCodes;
  /** What a program wants to know besides. */
  readonly details: Details | undefined;

  constructor(message: string, code: keyof typeof exitCodes = 'failed', details?: Details) {
    super(message);
    this.name = 'CliError';
    this.code = code;
    this.details = details;
  }
}

export interface Failure {
  readonly exitCode: number;
  /** Of `{error}` with --json. */
  readonly body: { readonly code: string; readonly reason?: string; readonly message: string; readonly details?: Details };
  /** Empty when it has been told. */
  readonly text: string;
}

export function toFailure(error: unknown): Failure {
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : exitCodes.usage, body: usageBody(error), text: '' };
  const text = describeFailure(error);
  if (error instanceof AppError) return { exitCode: exitCodes.failed, body: error.toBody(), text };
  if (error instanceof CliError) {
    const { code, message, details } = error;
    return { exitCode: exitCodes[code], body: { code, message, ...(details === undefined ? {} : { details }) }, text };
  }
  const message = types.isNativeError(error) ? error.message : String(error);
  return { exitCode: exitCodes.failed, body: { code: isOfSystem(error) ? 'failed' : 'internal', message }, text };
}

/** What went wrong, for a terminal. */
export function describeFailure(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (error instanceof AppError) return error.reason === undefined ? describeWithCause(error) : `${error.message} (${error.reason})`;
  if (isOfSystem(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** A file that cannot be written, a disk without space: its message says what and where. */
function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return types.isNativeError(error) && 'syscall' in error;
}

/** True when a service says no more than that something is not there. */
export function isBareNotFound(error: unknown): boolean {
  return error instanceof AppError && error.code === 'not_found' && error.reason === undefined && error.message === 'Not Found';
}

function usageBody({ code, message }: CommanderError): Failure['body'] {
  // A group without a command shows its help, which is no message.
  const text = code === 'commander.help' ? 'Name a command; --help shows which there are.' : message.replace(/^error: /, '');
  return { code: 'usage', message: text };
}
