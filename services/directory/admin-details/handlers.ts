/**
 * Returns the details of one person or holon without visibility limits, and stored links that are no longer accepted
 * (rules/cli#admin-cli; D72).
 */
import type { Static } from '#libs/contract';
import { notFound } from '#libs/errors';
import { type HandlersOf, type RawJson, rawJson } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { Dependencies } from '../dependencies.ts';
import { getPerson } from '../api-objects/index.ts';
import { getHolon } from '../holons/index.ts';
import { listHolonMemberships, listPersonMemberships } from '../memberships/index.ts';
import { listHolonRelationships } from '../relationships/index.ts';
import { findContactProblem, findLinkProblem, webAddressProblem } from '../texts/index.ts';
import type { Viewer } from '../visibility/index.ts';
import type { adminDetailRpcs, refusedLink, refusedLinkRpcs } from './contract.ts';
import { findLinkCandidates } from './statements.ts';

type RefusedLink = Static<typeof refusedLink>;

const everything: Viewer = { seesAll: true, accountId: null };
const unfiltered = { journey: null, step: null, responsiblePersonId: null, followUp: null, from: null, to: null };

export function createAdminDetailHandlers({
  db,
}: Pick<Dependencies, 'db'>): HandlersOf<typeof adminDetailRpcs & typeof refusedLinkRpcs> {
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
    listRefusedLinks: async () => ({ items: await listRefusedLinks(db) }),
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

const maxItems = 1_000;

/** Returns stored links that violate the rules for new links. */
async function listRefusedLinks(db: Database): Promise<RefusedLink[]> {
  const rows = await findLinkCandidates(db);
  const items = rows.flatMap(({ kind, id, field, value }) => {
    const problem = findProblem(kind, field, value);
    return problem === undefined ? [] : [{ kind, id, field, problem }];
  });
  return items.slice(0, maxItems);
}

function findProblem(kind: 'person' | 'holon', field: string, value: string): string | undefined {
  if (field === 'photo_url') return webAddressProblem(value);
  return kind === 'holon' ? findLinkProblem(value) : findContactProblem(value);
}
