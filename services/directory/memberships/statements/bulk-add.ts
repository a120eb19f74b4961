/** What bulk-adds ask (rules/memberships#bulk-add; D45). */
import { sql, statement, t } from '#libs/sql';
import { viewerParams } from '../../viewer.ts';
import { canEditHolonSql, holonVisibleSql } from '../../visibility.ts';
import { membershipRow } from './writes.ts';

export const takeBulkTurn = statement.maybeOne({
  name: 'memberships.take-bulk-turn',
  params: { holonId: t.integer, ...viewerParams },
  row: {
    visible: t.boolean,
    editable: t.boolean,
    /** True when no other bulk write of the holon runs; it holds others back until the transaction ends. Null without the right to write. */
    turn: t.boolean.nullable,
  },
  sql: ({ holonId, ...viewer }) => sql`
    select visible, editable,
      case when visible and editable then pg_try_advisory_xact_lock(hashtextextended('directory.bulk-add/' || id, 0)) end as turn
    from (select h.id, ${holonVisibleSql('h', 'c', viewer)} as visible, ${canEditHolonSql('h', viewer)} as editable
          from directory.holons h join directory.object_classes c on c.id = h.class_id where h.id = ${holonId} offset 0) as own`,
});

/** The memberships that are there. */
export const findPresent = statement.many({
  name: 'memberships.find-present',
  params: { holonId: t.integer, personIds: t.integer.array, journeyIds: t.integer.array },
  row: membershipRow,
  sql: ({ holonId, personIds, journeyIds }) => sql`
    select id, person_id, journey_id from directory.memberships
    where holon_id = ${holonId} and person_id = any(${personIds}) and journey_id = any(${journeyIds})`,
});
