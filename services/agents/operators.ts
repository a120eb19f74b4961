/** What operators may see and do here. The gateway has looked at it already; what visitors wrote is worth a second look. */
import { type Actor, mayActOps, mayReadOps } from '#libs/contract';
import { appError } from '#libs/errors';

/** @throws AppError not_an_operator */
export function requireOpsReader(actor: Actor | undefined): void {
  if (!mayReadOps(actor)) throw appError('permission_denied', 'not_an_operator', 'You may not see operations.');
}

/** @throws AppError not_an_operator */
export function requireOpsOperator(actor: Actor | undefined): void {
  if (!mayActOps(actor)) throw appError('permission_denied', 'not_an_operator', 'You may not act on operations.');
}
