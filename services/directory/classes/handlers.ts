/** Returns the classes of the open API (rules/journeys#classes). */
import type { HandlersOf } from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import { bodyOf } from '../lists/index.ts';
import type { classRpcs } from './contract.ts';
import { getClass, listClasses } from './statements.ts';

export function createClassHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof classRpcs> {
  return {
    listClasses: async ({ object_kind: kind }) => bodyOf(await listClasses(db, { kind })),
    getClass: async ({ object_kind: kind, slug }) => bodyOf(await getClass(db, { kind, slug })),
  };
}
