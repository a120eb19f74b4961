/** Returns the details of one person or holon without visibility limits (rules/cli#admin-cli). */
import { notFound } from '#libs/errors';
import { type HandlersOf, type RawJson, rawJson } from '#libs/nats';
import type { Dependencies } from '../dependencies.ts';
import { getPerson } from '../api-objects/index.ts';
import { listPersonMemberships } from '../memberships/index.ts';
import type { Viewer } from '../visibility/index.ts';
import type { adminDetailRpcs } from './contract.ts';

const everything: Viewer = { seesAll: true, accountId: null };

export function createAdminDetailHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof adminDetailRpcs> {
  return {
    showPerson: async ({ person_id: personId, ...page }) =>
      together({
        person: await getPerson(db, { id: personId }),
        memberships: await listPersonMemberships(db, { personId, ...page, ...everything }),
      }),
  };
}

/**
 * Combines several JSON bodies from SQL into one object under these names. @throws AppError not_found when a body is
 * missing
 */
function together(parts: Readonly<Record<string, { readonly body: string | null } | undefined>>): RawJson {
  const fields = Object.entries(parts).map(([name, row]) => {
    if (typeof row?.body !== 'string') throw notFound();
    return `"${name}":${row.body}`;
  });
  return rawJson(`{${fields.join(',')}}`);
}
