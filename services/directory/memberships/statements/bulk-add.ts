/** What bulk-adds ask (rules/memberships#bulk-add; D45). */
import { statement } from '#libs/orm';
import { canEditHolonSql, holonVisibleSql } from '../../visibility.ts';

export interface BulkTurnRow {
  readonly visible: boolean;
  readonly editable: boolean;
  /** True when no other bulk write of the holon runs; it holds others back until the transaction ends. Null without the right to write. */
  readonly turn: boolean | null;
}

/** `$1` = holon, `$2`, `$3` = viewer; a BulkTurnRow. */
export const takeBulkTurn = statement(
  'memberships.take-bulk-turn',
  `select visible, editable,
     case when visible and editable then pg_try_advisory_xact_lock(hashtextextended('directory.bulk-add/' || id, 0)) end as turn
   from (select h.id, ${holonVisibleSql('h', 'c', 2)} as visible, ${canEditHolonSql('h', 2)} as editable
         from directory.holons h join directory.object_classes c on c.id = h.class_id where h.id = $1::integer offset 0) as own`,
);

/** `$1` = holon, `$2` = people, `$3` = journeys; id, person and journey of the memberships that are there. */
export const findPresent = statement(
  'memberships.find-present',
  `select id, person_id, journey_id from directory.memberships
   where holon_id = $1::integer and person_id = any($2::integer[]) and journey_id = any($3::integer[])`,
);
