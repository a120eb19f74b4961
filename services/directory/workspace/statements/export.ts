/**
 * Exports the lists of the workspace file by ascending id, which is the order of the original file. An item is null if
 * the file cannot represent its row, e.g. a person without a key.
 */
import { type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import type { ListName } from '../rules/vocabulary.ts';

const slugSql = (table: string, id: Sql): Sql =>
  sql`(select s.slug from ${sql.id(`directory.${table}`)} s where s.id = ${id})`;
const personSql = (id: Sql): Sql => sql`(select p.key from directory.people p where p.id = ${id})`;
function attachedSql(table: string, owner: string, target: string, of: string): Sql {
  return sql`coalesce((select json_agg(s.slug order by a.position, s.id)
     from ${sql.id(`directory.${table}`)} a join ${sql.id(`directory.${of}`)} s on s.id = ${sql.id(`a.${target}`)}
     where ${sql.id(`a.${owner}`)} = t.id), '[]')`;
}
const workflowSql = sql`'journey', ${slugSql('journeys', sql`t.journey_id`)}, 'step', ${slugSql('journey_steps', sql`t.step_id`)},
  'follow_up_after', t.follow_up_after, 'responsible', ${personSql(sql`t.responsible_person_id`)}`;

const questionsSql = sql`coalesce((select json_agg(case when q.is_retired then json_build_object('text', q.text, 'is_archived', true) else json_build_object('text', q.text) end order by q.position, q.id)
  from directory.journey_questions q where q.journey_id = t.id), '[]')`;
const stepsSql = sql`coalesce((select json_agg(json_build_object('slug', s.slug, 'title', s.title, 'goal', s.goal,
    'success_criteria', s.success_criteria, 'starter_message', s.starter_message, 'is_archived', s.is_archived,
    'pipeline_job', s.pipeline_job, 'config', s.config) order by s.position, s.id)
  from directory.journey_steps s where s.journey_id = t.id), '[]')`;
const teamsSql = sql`coalesce((select json_agg(json_build_object('holon', h.slug, 'active', a.is_active) order by h.id)
  from directory.team_authority a join directory.holons h on h.id = a.holon_id where a.account_id = t.id), '[]')`;
/** Converts the sphere ids of `addHolonInfos` to keys. The result is null if the holon never had spheres. */
const spheresSql = sql`case when jsonb_typeof(t.infos -> 'spheres') = 'array' then coalesce((select json_agg(s.key order by i.place)
  from jsonb_array_elements_text(t.infos -> 'spheres') with ordinality as i(id, place) join directory.spheres s on s.id::text = i.id), '[]') end`;

/** Statements that return the rows of a list after an id, as the JSON of the item. */
export const exportList = {
  spheres: list('spheres', 'spheres', sql`'key', t.key, 'name', t.name, 'is_active', t.is_active`),
  classes: list(
    'classes',
    'object_classes',
    sql`'slug', t.slug, 'object_kind', t.object_kind, 'parent', ${slugSql('object_classes', sql`t.parent_id`)}, 'label', t.label,
     'plural_label', t.plural_label, 'description', t.description, 'sort_order', t.sort_order, 'is_system', t.is_system,
     'is_active', t.is_active, 'icon_url', t.icon_url, 'conversation_event', t.conversation_event, 'private', t.private,
     'name_read_only', t.name_read_only,
     'allowed_children', ${attachedSql('class_allowed_children', 'class_id', 'child_class_id', 'object_classes')},
     'journeys', ${attachedSql('class_journeys', 'class_id', 'journey_id', 'journeys')}, 'config', t.config`,
  ),
  journeys: list(
    'journeys',
    'journeys',
    sql`'slug', t.slug, 'name', t.name, 'description', t.description, 'svc_app', t.svc_app, 'object_kind', t.object_kind,
     'applies_to', ${slugSql('object_classes', sql`t.applies_to_class_id`)}, 'is_conversation', t.is_conversation,
     'public_visible', t.public_visible, 'bulk_add', t.bulk_add, 'texts', t.texts, 'questions', ${questionsSql}, 'steps', ${stepsSql}`,
  ),
  people: list(
    'people',
    'people',
    sql`'key', t.key, 'name', t.name, 'description', t.description, 'photo_url', t.photo_url, 'contact', t.contact,
     'actor_kind', t.actor_kind, 'infos', t.infos`,
    sql`t.key is not null`,
  ),
  holons: list(
    'holons',
    'holons',
    sql`'slug', t.slug, 'name', t.name, 'description', t.description, 'class', ${slugSql('object_classes', sql`t.class_id`)},
     'parent', ${slugSql('holons', sql`t.parent_id`)}, 'links', t.links,
     'locations', case when jsonb_typeof(t.infos -> 'locations') = 'array' then t.infos -> 'locations' end, 'spheres', ${spheresSql},
     'infos', t.infos - 'spheres' - 'locations', 'journeys', ${attachedSql('holon_journeys', 'holon_id', 'journey_id', 'journeys')}`,
  ),
  accounts: list(
    'accounts',
    'accounts',
    sql`'email', t.email, 'person', ${personSql(sql`t.person_id`)}, 'active', t.is_active, 'superuser', t.superuser,
     'global_editor', t.global_editor, 'groups', t.groups, 'teams', ${teamsSql}`,
  ),
  memberships: list(
    'memberships',
    'memberships',
    sql`'key', t.key, 'person', ${personSql(sql`t.person_id`)}, 'holon', ${slugSql('holons', sql`t.holon_id`)}, ${workflowSql}`,
    sql`${personSql(sql`t.person_id`)} is not null`,
  ),
  // Of several relationships without key between the same holons, the file can represent only the first.
  relationships: list(
    'relationships',
    'relationships',
    sql`'key', t.key, 'from', ${slugSql('holons', sql`t.from_holon_id`)}, 'to', ${slugSql('holons', sql`t.to_holon_id`)}, ${workflowSql}`,
    sql`(t.key is not null or not exists (select from directory.relationships o where o.key is null and o.id < t.id
       and o.from_holon_id = t.from_holon_id and o.to_holon_id = t.to_holon_id and o.journey_id is not distinct from t.journey_id))`,
  ),
} as const satisfies Readonly<Record<ListName, unknown>>;

function list(name: ListName, table: string, fields: Sql, canBeNamed: Sql = sql`true`) {
  return statement.many({
    name: `workspace.export-${name}`,
    params: { after: t.integer, limit: t.integer },
    row: { id: t.integer, item: t.text.nullable },
    sql: ({ after, limit }) => sql`
     select t.id, case when ${canBeNamed} then json_build_object(${fields})::text end as item
     from ${sql.id(`directory.${table}`)} t where t.id > ${after} order by t.id limit ${limit}`,
  });
}
