/** Returns which feed events an account can read (rules/events#feed; V4, D48). */
import { isPossibleId } from '#libs/infrastructure/contract';
import type { HandlersOf } from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import { bodyOf } from '../lists/index.ts';
import type { Viewer } from '../visibility/index.ts';
import type { feedRpcs } from './contract.ts';
import { findSeesAll, listHiddenHolons, listReadable } from './statements.ts';

export function createFeedHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof feedRpcs> {
  const findViewer = async (accountId: number | null): Promise<Viewer> => ({
    seesAll: accountId !== null && (await findSeesAll(db, { accountId })) !== undefined,
    accountId,
  });
  return {
    listHiddenHolons: async ({ account_id: accountId }) =>
      bodyOf(await listHiddenHolons(db, await findViewer(accountId))),
    listFeedReadable: async ({ account_id: accountId, people, holons, memberships, relationships, notes }) =>
      bodyOf(
        await listReadable(db, {
          people: people.filter(isPossibleId),
          holons: holons.filter(isPossibleId),
          memberships: memberships.filter(isPossibleId),
          relationships: relationships.filter(isPossibleId),
          notes: notes.filter(isPossibleId),
          ...(await findViewer(accountId)),
        }),
      ),
  };
}
