/** Team authority, and the checks and derived columns that follow a change of the trees. */
import { sql, statement, t } from '#libs/sql';

/** Grants a JSON list of `{account_id, holon_id, is_active}`; returns those that are new or changed. */
export const grantTeams = statement.many({
  name: 'workspace.grant-teams',
  params: { teams: t.json },
  row: { account_id: t.integer, holon_id: t.integer, is_active: t.boolean },
  sql: ({ teams }) => sql`
    insert into directory.team_authority (account_id, holon_id, is_active)
    select i.account_id, i.holon_id, i.is_active from jsonb_to_recordset(${teams}) as i(account_id integer, holon_id integer, is_active boolean)
    on conflict (account_id, holon_id) do update set is_active = excluded.is_active
      where team_authority.is_active is distinct from excluded.is_active
    returning account_id, holon_id, is_active`,
});

/** Ids of classes that are their own ancestor. */
export const findClassCycles = statement.many({
  name: 'workspace.find-class-cycles',
  row: { id: t.integer },
  sql: () => sql`
    with recursive up as (
      select id as start_id, parent_id, 1 as depth from directory.object_classes where parent_id is not null
      union all
      select up.start_id, c.parent_id, up.depth + 1 from up join directory.object_classes c on c.id = up.parent_id
      where c.parent_id is not null and up.parent_id <> up.start_id and up.depth < 1000
    ) select distinct start_id as id from up where parent_id = start_id`,
});

/** Those of the holons that are their own ancestor. */
export const findHolonCycles = statement.many({
  name: 'workspace.find-holon-cycles',
  params: { ids: t.integer.array },
  row: { id: t.integer },
  sql: ({ ids }) => sql`
    with recursive up as (
      select id as start_id, parent_id, 1 as depth from directory.holons where id = any(${ids}) and parent_id is not null
      union all
      select up.start_id, h.parent_id, up.depth + 1 from up join directory.holons h on h.id = up.parent_id
      where h.parent_id is not null and up.parent_id <> up.start_id and up.depth < 10000
    ) select distinct start_id as id from up where parent_id = start_id`,
});

/** Computes `ancestor_ids` (nearest first) and the inherited flags of every class anew (D48). */
export const deriveClasses = statement.none({
  name: 'workspace.derive-classes',
  sql: () => sql`
    with recursive tree as (
      select id, array[]::integer[] as ancestor_ids, private, name_read_only from directory.object_classes where parent_id is null
      union all
      select c.id, tree.id || tree.ancestor_ids, c.private or tree.private, c.name_read_only or tree.name_read_only
      from directory.object_classes c join tree on tree.id = c.parent_id
    )
    update directory.object_classes c
    set ancestor_ids = tree.ancestor_ids, effective_private = tree.private, effective_name_read_only = tree.name_read_only
    from tree where tree.id = c.id
      and (c.ancestor_ids, c.effective_private, c.effective_name_read_only) is distinct from (tree.ancestor_ids, tree.private, tree.name_read_only)`,
});

/** Parents may come after their children, in the file and in the batches that write it. */
export const deferParents = statement.none({
  name: 'workspace.defer-parents',
  sql: () => sql`set constraints all deferred`,
});
