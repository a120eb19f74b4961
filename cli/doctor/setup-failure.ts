/** Why a program of the set-up failed, for its standard error: in words where a server, an address or a setting is the cause, else with its place in the code. */
import { ConfigError } from '#libs/config';
import { AppError, describeWithCause } from '#libs/errors';
import { MigrationError } from '#libs/orm';
import { CliError } from '../failure.ts';
import { explainServerProblem, type Target } from './server-problem.ts';

/** @param findTarget the server that the program works with; asked when the failure may be the server's */
export async function describeSetupFailure(error: unknown, findTarget: () => Target | Promise<Target>): Promise<string> {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ConfigError || error instanceof CliError || error instanceof MigrationError) return error.message;
  if (!(error instanceof AppError) && typeof (error as NodeJS.ErrnoException).code !== 'string') return error.stack ?? error.message;
  const explained = explainServerProblem(await findTarget(), error);
  return explained?.message ?? (error instanceof AppError ? describeWithCause(error) : (error.stack ?? error.message));
}
