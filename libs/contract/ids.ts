/** Ids of rows: positive integers of 32 bits. Any other integer is an id that nobody has (rules/http#ids). */
import { Type } from './type.ts';

/** The largest that a row can have. */
export const maxId = 2_147_483_647;

/** Of a row that there may be. */
export const rowId = Type.Integer({ minimum: 1, maximum: maxId });

export function isPossibleId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= maxId;
}
