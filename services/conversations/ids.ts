/** Ids that a row can have. */
import { notFound } from '#libs/errors';
import { maxId } from './schemas.ts';

/** The id when a row can have it. @throws AppError 404: nobody has it (rules/http#ids) */
export function requireId(id: number): number {
  if (!isPossibleId(id)) throw notFound();
  return id;
}

export function isPossibleId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= maxId;
}
