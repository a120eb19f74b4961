/** Reports the states of conversations to other services (D67). */
import type { ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import type { conversations } from '../contract.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import * as statements from './statements.ts';

type Rpcs = typeof conversations.rpcs;

export function createDeletionHandlers(
  dependencies: Dependencies,
): Pick<Operations, 'getState' | 'listStates' | 'countUses'> {
  return {
    getState: (request) => getState(dependencies, request),
    listStates: (request) => listStates(dependencies, request),
    countUses: ({ holon_id: holonId, journey_id: journeyId, step_id: stepId }) =>
      statements.countUses(dependencies.db, { holonId, journeyId, stepId }),
  };
}

async function getState({ db }: Dependencies, { id }: RequestOf<Rpcs['getState']>): Promise<ReplyOf<Rpcs['getState']>> {
  const row = await statements.findState(db, { id });
  return { state: row === undefined ? 'gone' : row.is_deleted ? 'deleted' : 'present' };
}

async function listStates(
  { db }: Dependencies,
  { ids }: RequestOf<Rpcs['listStates']>,
): Promise<ReplyOf<Rpcs['listStates']>> {
  return { items: await statements.listStates(db, { ids }) };
}
