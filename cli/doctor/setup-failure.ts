/**
 * Returns the error text of set-up programs: an explanation for problems of servers, addresses and settings, otherwise
 * the stack.
 */
import { ConfigError } from '#libs/infrastructure/config';
import { AppError, describeWithCause } from '#libs/infrastructure/errors';
import { MigrationError } from '#libs/infrastructure/orm';
import { CliError } from '../failure.ts';
import { explainServerProblem, type Target } from './server-problem.ts';

/** @param findTarget returns the server of the program; called only when the error can be an error of the server */
export async function describeSetupFailure(
  error: unknown,
  findTarget: () => Target | Promise<Target>,
): Promise<string> {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ConfigError || error instanceof CliError || error instanceof MigrationError)
    return error.message;
  if (!(error instanceof AppError) && typeof (error as NodeJS.ErrnoException).code !== 'string')
    return error.stack ?? error.message;
  const explained = explainServerProblem(await findTarget(), error);
  return explained?.message ?? (error instanceof AppError ? describeWithCause(error) : (error.stack ?? error.message));
}
