/** Finds people for operators, and exports the data of one person (rules/people#export-and-erasure; W1, W20). */
import { requireOpsReader } from '#libs/infrastructure/actor';
import { isPossibleId } from '#libs/infrastructure/contract';
import { AppError, notFound } from '#libs/infrastructure/errors';
import { type HandlersOf, jsonStream } from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import type { personDataRpcs } from './contract.ts';
import { streamExport } from './export.ts';
import { findPeople, findPersonIdentity } from './find.ts';
import { findPersonById } from './statements.ts';

export function createPersonDataHandlers(deps: Pick<Dependencies, 'db' | 'bus'>): HandlersOf<typeof personDataRpcs> {
  const { db } = deps;
  return {
    findPeople: async ({ identifier }, { actor }) => {
      requireOpsReader(actor);
      return { items: await findPeople(db, identifier.trim()) };
    },
    exportPerson: async ({ person_id: id, visitor_ids: visitors = [], telegram_user_ids: users = [] }, context) => {
      const { actor } = context;
      const found = isPossibleId(id) ? await findPersonById(db, { id }) : undefined;
      if (found === undefined) throw notFound();
      const isSuperuser = actor?.kind === 'user' && actor.superuser;
      if (!isSuperuser && (actor?.kind !== 'user' || actor.personId !== id))
        throw new AppError({ code: 'permission_denied', message: 'You cannot export the data of this person.' });
      if (!isSuperuser && visitors.length + users.length > 0)
        throw new AppError({ code: 'permission_denied', message: 'Only superusers can export chats by their ids.' });
      const { account_ids: accountIds, telegram_user_ids: own } = await findPersonIdentity(db, id);
      const telegramUsers = [...new Set([...own, ...users])];
      const person = { id, account_ids: accountIds, visitor_ids: visitors, telegram_user_ids: telegramUsers };
      return jsonStream(streamExport(deps, person, context));
    },
  };
}
