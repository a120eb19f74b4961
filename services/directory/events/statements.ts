/** Reads memberships and relationships in the form in which feed events contain them (rules/events; V9). */
import { sql, statement, t } from '#libs/infrastructure/sql';

const journeyRow = { journey_id: t.integer.nullable, journey: t.text.nullable };

/** Returns the current values of memberships by id. Deleted memberships are absent. */
export const listMemberships = statement.many({
  name: 'feed.memberships',
  params: { ids: t.integer.array },
  row: { id: t.integer, person_id: t.integer, holon_id: t.integer, ...journeyRow },
  sql: ({ ids }) => sql`
    select m.id, m.person_id, m.holon_id, m.journey_id, j.slug as journey
    from directory.memberships m left join directory.journeys j on j.id = m.journey_id where m.id = any(${ids}) order by m.id`,
});

/** Returns the current values of relationships by id. */
export const listRelationships = statement.many({
  name: 'feed.relationships',
  params: { ids: t.integer.array },
  row: { id: t.integer, from_holon_id: t.integer, to_holon_id: t.integer, ...journeyRow },
  sql: ({ ids }) => sql`
    select r.id, r.from_holon_id, r.to_holon_id, r.journey_id, j.slug as journey
    from directory.relationships r left join directory.journeys j on j.id = r.journey_id where r.id = any(${ids}) order by r.id`,
});

/**
 * Records which accounts can see the private holons among these by their team authority. Call it before the holons are
 * deleted (W21).
 */
export const recordDeletedHolons = statement.none({
  name: 'feed.record-deleted-holons',
  params: { ids: t.integer.array },
  sql: ({ ids }) => sql`
    with recursive upwards as (
      select h.id as holon_id, h.id, h.parent_id from directory.holons h join directory.object_classes c on c.id = h.class_id
      where h.id = any(${ids}) and c.effective_private
      union select u.holon_id, above.id, above.parent_id from directory.holons above join upwards u on above.id = u.parent_id
    )
    insert into directory.deleted_private_holons (holon_id, account_ids)
    select u.holon_id, array_remove(array_agg(distinct team.account_id), null)
    from upwards u left join directory.team_authority team on team.holon_id = u.id and team.is_active
    group by u.holon_id`,
});
