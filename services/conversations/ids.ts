/** Ids that a row can have. */
import { isPossibleId } from '#libs/contract';
import { notFound } from '#libs/errors';

/** The id when a row can have it. @throws AppError 404: nobody has it (rules/http#ids) */
export function requireId(id: number): number {
  if (!isPossibleId(id)) throw notFound();
  return id;
}
