/** Check for `doctor`: links that were stored before links were validated; browsers may execute some of them (D72). */
import type { Queryable } from '#libs/infrastructure/sql';
import { findContactProblem, findLinkProblem, webAddressProblem } from '../texts/index.ts';
import { findLinkCandidates } from './statements.ts';

const maxNamed = 20;

/** @throws Error with the links, contact values and photos that would be rejected today, without their values */
export async function checkLinks(db: Queryable): Promise<string> {
  const rows = await findLinkCandidates(db);
  const problems = rows.flatMap(({ kind, id, field, value }) => {
    const problem = findProblem(kind, field, value);
    return problem === undefined ? [] : [`${kind} ${id} ${field} ${problem}`];
  });
  if (problems.length === 0) return 'all valid';
  const more = problems.length > maxNamed ? [`${problems.length - maxNamed} more`] : [];
  throw new Error([...problems.slice(0, maxNamed), ...more].join('; '));
}

function findProblem(kind: 'person' | 'holon', field: string, value: string): string | undefined {
  if (field === 'photo_url') return webAddressProblem(value);
  return kind === 'holon' ? findLinkProblem(value) : findContactProblem(value);
}
