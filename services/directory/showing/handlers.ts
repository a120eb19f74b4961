/** One person or holon with what hangs on it, as nobody's eyes limit it; for the admin CLI (rules/cli#admin-cli). */
import { notFound } from '#libs/errors';
import { type Handlers, type RawJson, rawJson } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { directory } from '../contract.ts';
import { getHolon } from '../holons/index.ts';
import { listHolonMemberships, listPersonMemberships } from '../memberships/index.ts';
import { getPerson } from '../people/index.ts';
import { listHolonRelationships } from '../relationships/index.ts';
import type { Viewer } from '../viewer.ts';
import type { showingRpcs } from './contract.ts';

const everything: Viewer = { seesAll: true, accountId: null };
const unfiltered = { journey: null, step: null, responsiblePersonId: null, followUp: null, from: null, to: null };

export function createShowingHandlers(db: Database): Pick<Handlers<typeof directory>, keyof typeof showingRpcs> {
  return {
    showPerson: async ({ person_id: personId, ...page }) =>
      together({
        person: await getPerson(db, { id: personId }),
        memberships: await listPersonMemberships(db, { personId, ...page, ...everything }),
      }),
    showHolon: async ({ holon_id: holonId, ...page }) =>
      together({
        holon: await getHolon(db, { id: holonId, ...everything }),
        memberships: await listHolonMemberships.name(db, { holonId, ...unfiltered, ...page, ...everything }),
        relationships: await listHolonRelationships(db, { holonId, ...page, ...everything }),
      }),
  };
}

/** JSON that SQL made, under these names. @throws AppError not_found when a part is not there */
function together(parts: Readonly<Record<string, { readonly body: string | null } | undefined>>): RawJson {
  const fields = Object.entries(parts).map(([name, row]) => {
    if (typeof row?.body !== 'string') throw notFound();
    return `"${name}":${row.body}`;
  });
  return rawJson(`{${fields.join(',')}}`);
}
