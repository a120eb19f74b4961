/** Pages of an object's history, for callers that may edit the object (W10, W17). */
import { type Actor, isPossibleId, mayEditWorkspace, type RequestOf } from '#libs/infrastructure/contract';
import { AppError, notFound } from '#libs/infrastructure/errors';
import { readHistoryCursor } from '#libs/product/history';
import type { HandlersOf } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import type { Dependencies } from '../dependencies.ts';
import { bodyOf } from '../lists/index.ts';
import { readViewer } from '../visibility/index.ts';
import { historyPerPage, type historyRpcs } from './contract.ts';
import {
  findAccount,
  findClass,
  findHolon,
  findJourney,
  findMembership,
  findPerson,
  findRelationship,
  listHistory,
  nameActors,
} from './statements/pages.ts';

export function createHistoryHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof historyRpcs> {
  return {
    listHistory: async ({ kind, id: given, limit = historyPerPage, cursor }, { actor }) => {
      const objectId = await findEditable(db, kind, given, actor);
      const before = readHistoryCursor(cursor);
      return bodyOf(await listHistory(db, { kind, objectId, before, limit, ...readViewer(actor) }));
    },
    nameActors: async ({ ids }) => ({ items: await nameActors(db, { ids }) }),
  };
}

type Kind = RequestOf<typeof historyRpcs.listHistory>['kind'];

interface Found {
  readonly id: number;
  /** Absent for kinds that every caller can see. */
  readonly visible?: boolean;
  /** Absent for kinds whose right does not depend on the object's holons. */
  readonly editable?: boolean;
}

/** Returns the id of the object. @throws AppError 404, or 403 for a visible object that the caller may not edit */
async function findEditable(db: Database, kind: Kind, given: string, actor: Actor | undefined): Promise<number> {
  const user = actor?.kind === 'user' ? actor : undefined;
  // Only superusers see accounts; other callers get 403 whether or not the account exists.
  if (kind === 'accounts' && user?.superuser !== true) throw denied();
  const found = await find(db, kind, given, actor);
  if (found === undefined || found.visible === false) throw notFound();
  const mayEdit =
    kind === 'people'
      ? readViewer(actor).seesAll || user?.personId === found.id
      : (found.editable ?? mayEditWorkspace(actor));
  if (!mayEdit) throw denied();
  return found.id;
}

function find(db: Database, kind: Kind, given: string, actor: Actor | undefined): Promise<Found | undefined> {
  const number = /^[1-9]\d{0,9}$/.test(given) ? Number(given) : 0;
  const id = isPossibleId(number) ? number : 0;
  const viewer = readViewer(actor);
  const finders: Readonly<Record<Kind, () => Promise<Found | undefined>>> = {
    people: () => findPerson(db, { id }),
    holons: () => findHolon(db, { id, ...viewer }),
    memberships: () => findMembership(db, { id, ...viewer }),
    relationships: () => findRelationship(db, { id, ...viewer }),
    journeys: () => findJourney(db, { id, slug: given }),
    classes: () => findClass(db, { path: given, seesRetired: mayEditWorkspace(actor) }),
    accounts: () => findAccount(db, { id }),
  };
  return finders[kind]();
}

const denied = (): AppError => new AppError({ code: 'permission_denied', message: 'You cannot edit this object.' });
