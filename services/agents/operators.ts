/** Rights of operators. The gateway checks them too; messages of visitors are worth a second check. */
import { type Actor, mayActOps, mayReadOps } from '#libs/contract';
import { appError } from '#libs/errors';

/** @throws AppError not_an_operator */
export function requireOpsReader(actor: Actor | undefined): void {
  if (!mayReadOps(actor))
    throw appError('permission_denied', 'not_an_operator', 'You do not have access to operations.');
}

/** @throws AppError not_an_operator */
export function requireOpsOperator(actor: Actor | undefined): void {
  if (!mayActOps(actor))
    throw appError('permission_denied', 'not_an_operator', 'You do not have the right to act on operations.');
}

export const notAnOperator = {
  not_an_operator: { code: 'permission_denied', when: 'The caller is not an operator with this right.' },
} as const;
