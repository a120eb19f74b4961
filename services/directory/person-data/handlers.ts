/** Finds and exports the data of one person (rules/people#export-and-erasure; W1, W20). */
import { isPossibleId } from '#libs/contract';
import { AppError, notFound } from '#libs/errors';
import { type HandlersOf, jsonStream, rawJson } from '#libs/nats';
import type { Dependencies } from '../dependencies.ts';
import type { personDataRpcs } from './contract.ts';
import { readExportPage, streamExport } from './export.ts';
import { findPerson, findPersonIdentity } from './find.ts';
import { findPersonById } from './statements.ts';

export function createPersonDataHandlers(deps: Pick<Dependencies, 'db' | 'bus'>): HandlersOf<typeof personDataRpcs> {
  const { db } = deps;
  return {
    identifyPerson: async ({ who: reference, merged = false }) => {
      const { id } = await findPerson(db, reference.trim(), { ids: merged, names: true });
      return findPersonIdentity(db, id);
    },
    exportPerson: async ({ person_id: id }, context) => {
      const { actor } = context;
      const found = isPossibleId(id) ? await findPersonById(db, { id }) : undefined;
      if (found === undefined) throw notFound();
      if (actor?.kind !== 'user' || (!actor.superuser && actor.personId !== id))
        throw new AppError({ code: 'permission_denied', message: 'You cannot export the data of this person.' });
      const { account_ids: accountIds, telegram_user_ids: users } = await findPersonIdentity(db, id);
      const person = { id, account_ids: accountIds, visitor_ids: [], telegram_user_ids: users };
      return jsonStream(streamExport(deps, person, context));
    },
    exportPersonPart: async ({ person_id: id, part, after, ...chats }, context) => {
      const { account_ids: accountIds } = await findPersonIdentity(db, id);
      const { items, next } = await readExportPage(
        deps,
        { id, account_ids: accountIds, ...chats },
        part,
        after,
        context,
      );
      return rawJson(`{"items":[${items.join(',')}],"next":${JSON.stringify(next)}}`);
    },
  };
}
