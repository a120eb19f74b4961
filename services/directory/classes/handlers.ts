/** Classes of the open API (rules/journeys#classes). */
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { directory } from '../contract.ts';
import { readBody } from '../read-body.ts';
import type { classRpcs } from './contract.ts';
import { getClass, listClasses } from './statements.ts';

export function createClassHandlers(db: Database): Pick<Handlers<typeof directory>, keyof typeof classRpcs> {
  return {
    listClasses: ({ object_kind: kind }) => readBody(db, listClasses, kind ?? null),
    getClass: ({ object_kind: kind, slug }) => readBody(db, getClass, kind, slug),
  };
}
