/** Handlers of the follow-up worklist (rules/memberships#worklist; D41, D47a, D48, D50). */
import { badRequest } from '#libs/infrastructure/errors';
import type { HandlersOf } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import type { Dependencies } from '../dependencies.ts';
import { bodyOf } from '../lists/index.ts';
import { readViewer } from '../visibility/index.ts';
import { type DateSpan, isFollowUpPeriod, spanOf, type Today } from '../workflow/index.ts';
import { worklistItemsPerPage, type worklistRpcs } from './contract.ts';
import { findClassSubtrees, worklistOf } from './statements.ts';

export function createWorklistHandlers({
  db,
  today,
}: Pick<Dependencies, 'db' | 'today'>): HandlersOf<typeof worklistRpcs> {
  return {
    listResponsible: async ({ responsible, type, when, limit = worklistItemsPerPage, offset = 0 }, { actor }) => {
      const span = readPeriods(when, today);
      const { memberships, classIds } = await readTypes(db, type);
      const listWorklist = worklistOf({
        memberships,
        relationships: classIds === undefined ? 'all' : classIds.length > 0 ? 'of-classes' : 'none',
        responsible: responsible !== undefined,
        span: span !== undefined,
      });
      const dates = { from: span?.from, to: span?.to, except: span?.except };
      return bodyOf(
        await listWorklist(db, { limit, offset, ...readViewer(actor), responsibleId: responsible, ...dates, classIds }),
      );
    },
  };
}

function readPeriods(text: string | undefined, today: Today): DateSpan | undefined {
  const tokens = readTokens(text);
  const periods = tokens.filter(isFollowUpPeriod);
  const unknown = tokens.find((token) => !isFollowUpPeriod(token));
  if (unknown !== undefined) throw badRequest(`when cannot be "${unknown}".`);
  return periods.length === 0 ? undefined : spanOf(new Set(periods), today());
}

/**
 * Returns the requested types. Without types, all items match; otherwise memberships if they are named, and
 * relationships of the named classes.
 */
async function readTypes(
  db: Database,
  text: string | undefined,
): Promise<{ memberships: boolean; classIds: readonly number[] | undefined }> {
  const tokens = readTokens(text);
  if (tokens.length === 0) return { memberships: true, classIds: undefined };
  const slugs = tokens.filter((token) => token !== 'person');
  const found = slugs.length === 0 ? [] : await findClassSubtrees(db, { slugs });
  const unknown = slugs.find((slug) => !found.some((row) => row.slug === slug));
  if (unknown !== undefined) throw badRequest(`type cannot be "${unknown}".`);
  return { memberships: tokens.includes('person'), classIds: [...new Set(found.flatMap(({ ids }) => ids))] };
}

/** Returns the comma-separated tokens of a text, without empty ones. */
function readTokens(text: string | undefined): string[] {
  return (text ?? '').split(',').flatMap((token) => (token.trim() === '' ? [] : [token.trim()]));
}
