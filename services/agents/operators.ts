/** Checks the rights of operators. The gateway checks them too; this second check protects the messages of visitors. */
import { type Actor, isChatAgent, mayActOps, mayReadOps } from '#libs/contract';
import { appError } from '#libs/errors';

/** Throws unless the actor may read as an operator. @throws AppError not_an_operator */
export function requireOpsReader(actor: Actor | undefined): void {
  if (!mayReadOps(actor))
    throw appError('permission_denied', 'not_an_operator', 'You do not have access to operations.');
}

/** Throws unless the actor may change data as an operator. @throws AppError not_an_operator */
export function requireOpsOperator(actor: Actor | undefined): void {
  if (!mayActOps(actor))
    throw appError('permission_denied', 'not_an_operator', 'You do not have the right to act on operations.');
}

/** Throws unless the actor may read chats with visitors (W7). @throws AppError not_an_operator */
export function requireThreadReader(actor: Actor | undefined): void {
  if (!isChatAgent(actor)) requireOpsReader(actor);
}

/** Throws unless the actor may answer visitors (W7). @throws AppError not_an_operator */
export function requireThreadOperator(actor: Actor | undefined): void {
  if (!isChatAgent(actor)) requireOpsOperator(actor);
}

export const notAnOperator = {
  not_an_operator: { code: 'permission_denied', when: 'The caller is not an operator with this right.' },
} as const;
