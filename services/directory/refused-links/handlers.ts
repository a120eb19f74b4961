import type { Handler } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { directory } from '../contract.ts';
import { findContactProblem, findLinkProblem, webAddressProblem } from '../links.ts';
import { findUnusualLinks } from './statements.ts';

const maxItems = 1_000;

/** Stored links by the rule that holds for new ones. */
export function createListRefusedLinks(db: Database): Handler<typeof directory.rpcs.listRefusedLinks> {
  return async () => {
    const rows = await findUnusualLinks(db);
    const items = rows.flatMap(({ kind, id, field, value }) => {
      const problem = findProblem(kind, field, value);
      return problem === undefined ? [] : [{ kind, id, field, problem }];
    });
    return { items: items.slice(0, maxItems) };
  };
}

function findProblem(kind: 'person' | 'holon', field: string, value: string): string | undefined {
  if (field === 'photo_url') return webAddressProblem(value);
  return kind === 'holon' ? findLinkProblem(value) : findContactProblem(value);
}
