/** Keeps the journey and the holons of a conversation until it is stored (W14). */
import { unavailable } from '#libs/infrastructure/errors';
import type { Tx } from '#libs/infrastructure/orm';
import { type ReferenceKey, tryHoldObjects } from '#libs/infrastructure/references';
import type { Dependencies } from './dependencies.ts';

export interface ConversationReferences {
  readonly journeyId: number | null;
  readonly stepId?: number | null | undefined;
  readonly holonIds: readonly (number | null | undefined)[];
}

/** @throws AppError unavailable when one of the objects is being deleted or was just deleted */
export async function holdReferences(
  { directory }: Pick<Dependencies, 'directory'>,
  tx: Tx,
  { journeyId, stepId = null, holonIds }: ConversationReferences,
): Promise<void> {
  const holons = [...new Set(holonIds.filter((id) => typeof id === 'number'))];
  const keys: ReferenceKey[] = holons.map((id) => `holon/${id}` as const);
  if (journeyId !== null) keys.push(`journey/${journeyId}`);
  const { held } = await tryHoldObjects(tx, { keys });
  if (!held || !(await directory.exist({ journeyId, stepId, holonIds: holons })))
    throw unavailable('A journey or holon of the conversation was deleted. Try again.');
}
