/**
 * Rights of operators (rules/access#operators). Services check them again after the gateway, as a second line of
 * defence.
 */
import { type Actor, mayActOps, mayReadOps } from '#libs/infrastructure/contract';
import { appError } from '#libs/infrastructure/errors';

/** Requires the right to read operator data. @throws AppError not_an_operator */
export function requireOpsReader(actor: Actor | undefined): void {
  if (!mayReadOps(actor))
    throw appError('permission_denied', 'not_an_operator', 'You do not have access to operations.');
}

/** Requires the right to run operator actions. @throws AppError not_an_operator */
export function requireOpsOperator(actor: Actor | undefined): void {
  if (!mayActOps(actor))
    throw appError('permission_denied', 'not_an_operator', 'You do not have the right to act on operations.');
}
