/** Rights to create a holon at a position in the tree, and the checks of ids that holons refer to (W2, W14). */
import { isPossibleId } from '#libs/infrastructure/contract';
import { AppError, badRequest } from '#libs/infrastructure/errors';
import type { Queryable } from '#libs/infrastructure/sql';
import type { Viewer } from '../../visibility/index.ts';
import type { findActiveSpheres, findJourneyIds } from '../statements/holon.ts';
import { findParent } from '../statements/positions.ts';

export interface Position {
  /** Null: the top of the tree. */
  readonly parentId: number | null;
  readonly classId: number;
}

/** Whether the caller has global edit access, or content rights on a parent whose class allows the class. */
export async function mayCreateAt(tx: Queryable, { parentId, classId }: Position, viewer: Viewer): Promise<boolean> {
  if (viewer.seesAll) return true;
  const parent = parentId === null ? undefined : await findParent(tx, { id: parentId, classId, ...viewer });
  return parent !== undefined && parent.can_edit && parent.allows_class;
}

/**
 * Checks the position of a new holon and locks its parent. @throws AppError 400 when the parent does not exist or is
 * invisible, 403 without the right to create there
 */
export async function checkNewPosition(tx: Queryable, { parentId, classId }: Position, viewer: Viewer): Promise<void> {
  if (parentId === null) {
    if (!viewer.seesAll) throw denied('Creating holons without a parent requires global edit access.');
    return;
  }
  const parent = isPossibleId(parentId) ? await findParent(tx, { id: parentId, classId, ...viewer }) : undefined;
  if (parent === undefined) throw unknownParent();
  if (!parent.can_edit) throw denied('You cannot edit the content of the parent.');
  if (!parent.allows_class && !viewer.seesAll) throw denied('The class of the parent does not allow this class.');
}

/**
 * Checks the new position of an existing holon and locks its parent. @throws AppError 400 when the parent does not exist,
 * is invisible or its class does not allow the class; 403 without the right to create there
 */
export async function checkMove(tx: Queryable, { parentId, classId }: Position, viewer: Viewer): Promise<void> {
  if (parentId === null) {
    if (!viewer.seesAll) throw denied('Moving a holon to the top requires global edit access.');
    return;
  }
  const parent = isPossibleId(parentId) ? await findParent(tx, { id: parentId, classId, ...viewer }) : undefined;
  if (parent === undefined) throw unknownParent();
  if (!parent.can_edit) throw denied('You cannot edit the content of the new parent.');
  if (!parent.allows_class)
    throw badRequest('parent_id: the class of the parent does not allow the class of the holon.');
}

const denied = (message: string): AppError => new AppError({ code: 'permission_denied', message });
const unknownParent = (): AppError => badRequest('parent_id must be the id of a holon.');

/** Returns the ids without duplicates, in order. @throws AppError 400 for an unknown id */
export async function checkIds(
  tx: Queryable,
  find: typeof findActiveSpheres | typeof findJourneyIds,
  given: readonly number[] | undefined,
  problem: string,
): Promise<number[] | undefined> {
  if (given === undefined) return undefined;
  const ids = [...new Set(given)];
  const possible = ids.filter(isPossibleId);
  const known = new Set((await find(tx, { ids: possible })).map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw badRequest(`${problem} ${unknown}.`);
  return ids;
}
