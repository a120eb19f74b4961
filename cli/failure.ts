/** Errors of commands: text for a terminal, JSON for --json, and the exit status. */
import { types } from 'node:util';
import { CommanderError } from 'commander';
import { AppError, describeWithCause } from '#libs/infrastructure/errors';

/** Exit codes by reason (rules/cli#exit-codes). */
export const exitCodes = {
  failed: 1,
  invalid_workspace: 1,
  not_found: 1,
  unavailable: 1,
  usage: 2,
  differs: 3,
  interrupted: 130,
} as const;

type Details = Readonly<Record<string, unknown>>;

/** An error whose message is sufficient for the user: no stack is printed. */
export class CliError extends Error {
  readonly code: keyof typeof exitCodes;
  /** Additional data for --json. */
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
  /** Value of `error` in the output of --json. */
  readonly body: {
    readonly code: string;
    readonly reason?: string;
    readonly message: string;
    readonly details?: Details;
  };
  /** Empty when Commander has already printed it. */
  readonly text: string;
}

export function toFailure(error: unknown): Failure {
  if (error instanceof CommanderError)
    return { exitCode: error.exitCode === 0 ? 0 : exitCodes.usage, body: usageBody(error), text: '' };
  const text = describeFailure(error);
  if (error instanceof AppError) return { exitCode: exitCodes.failed, body: error.toBody(), text };
  if (error instanceof CliError) {
    const { code, message, details } = error;
    return { exitCode: exitCodes[code], body: { code, message, ...(details === undefined ? {} : { details }) }, text };
  }
  const message = types.isNativeError(error) ? error.message : String(error);
  return { exitCode: exitCodes.failed, body: { code: isOfSystem(error) ? 'failed' : 'internal', message }, text };
}

/** Returns the error as text for a terminal. */
export function describeFailure(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (error instanceof AppError)
    return error.reason === undefined ? describeWithCause(error) : `${error.message} (${error.reason})`;
  if (isOfSystem(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Returns true for system errors, e.g. of a full disk. Their messages contain the call and the path. */
function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return types.isNativeError(error) && 'syscall' in error;
}

/** Returns the message about an object that does not exist. @param subject e.g. `person 12` */
export const describeMissing = (subject: string): string =>
  `${subject.charAt(0).toUpperCase()}${subject.slice(1)} does not exist.`;

/** Returns true for a `not_found` that has neither a reason nor a message. */
export function isBareNotFound(error: unknown): boolean {
  return (
    error instanceof AppError &&
    error.code === 'not_found' &&
    error.reason === undefined &&
    error.message === 'Not Found'
  );
}

function usageBody({ code, message }: CommanderError): Failure['body'] {
  // For a group without a subcommand, Commander prints the help and throws an error with a placeholder message.
  const text = code === 'commander.help' ? 'Specify a command; --help lists them.' : message.replace(/^error: /, '');
  return { code: 'usage', message: text };
}
