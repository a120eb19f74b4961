/** Locks of the stored rows that a document describes, so that no edit over the API is overwritten unread (W11). */
import { sql, statement, t } from '#libs/infrastructure/sql';
import type { ListName } from '../rules/vocabulary.ts';

const lockOf = (table: string) =>
  statement.none({
    name: `workspace.lock-${table}`,
    params: { ids: t.integer.array },
    sql: ({ ids }) =>
      sql`select id from ${sql.id(`directory.${table}`)} where id = any(${ids}) order by id for no key update`,
  });

/** Lists in the order in which writers lock their rows. */
export const lockItems = {
  people: lockOf('people'),
  accounts: lockOf('accounts'),
  holons: lockOf('holons'),
  memberships: lockOf('memberships'),
  relationships: lockOf('relationships'),
  spheres: lockOf('spheres'),
  classes: lockOf('object_classes'),
  journeys: lockOf('journeys'),
} as const satisfies Record<ListName, unknown>;

export const lockStepsOfJourneys = statement.none({
  name: 'workspace.lock-steps-of-journeys',
  params: { ids: t.integer.array },
  sql: ({ ids }) =>
    sql`select id from directory.journey_steps where journey_id = any(${ids}) order by id for no key update`,
});
