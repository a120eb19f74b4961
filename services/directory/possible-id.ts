/** Largest id that a row can have. */
const maxId = 2_147_483_647;

/** True for an integer that a row may have as its id; any other is as absent as an unknown one. */
export function isPossibleId(id: number): boolean {
  return id >= 1 && id <= maxId;
}
