/** Rights to read and answer chats with visitors (W7). */
import { requireOpsOperator, requireOpsReader } from '#libs/infrastructure/actor';
import { type Actor, isChatAgent } from '#libs/infrastructure/contract';

/** Throws unless the actor may read chats with visitors. @throws AppError not_an_operator */
export function requireThreadReader(actor: Actor | undefined): void {
  if (!isChatAgent(actor)) requireOpsReader(actor);
}

/** Throws unless the actor may answer visitors. @throws AppError not_an_operator */
export function requireThreadOperator(actor: Actor | undefined): void {
  if (!isChatAgent(actor)) requireOpsOperator(actor);
}
