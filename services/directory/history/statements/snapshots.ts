/**
 * Snapshots of the directory's objects for their history (W10): the fields of requests, without values that are derived
 * or change by themselves.
 */
import { createHistory, type History } from '#libs/product/history';
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';

/** Kinds of objects with a history, as in the paths of the API. */
export const historyKinds = [
  'people',
  'holons',
  'memberships',
  'relationships',
  'journeys',
  'classes',
  'accounts',
  'spheres',
] as const;
export type HistoryKind = (typeof historyKinds)[number];
export type DirectoryHistory = History<HistoryKind>;

/** `select` of a snapshot: columns `id`, `key` and `value`, and the rest of the statement. */
function snapshot(kind: HistoryKind, key: Sql, value: Sql, from: Sql) {
  return statement.many({
    name: `history.snapshot-${kind}`,
    params: { ids: t.integer.array },
    row: { id: t.integer, key: t.text.nullable, value: t.text },
    sql: ({ ids }: { readonly ids: SqlPart }) =>
      sql`select o.id, ${key} as key, json_build_object(${value})::text as value from ${from} where o.id = any(${ids}) order by o.id`,
  });
}

const workflow = sql`'journey_slug', j.slug, 'step_slug', s.slug, 'follow_up_after', o.follow_up_after, 'responsible_person_id', o.responsible_person_id`;
const workflowJoins = sql`left join directory.journeys j on j.id = o.journey_id left join directory.journey_steps s on s.id = o.step_id`;

/** Each step's fields as `steps.<slug>.<field>`. */
const stepFields = sql`(select json_object_agg('steps.' || s.slug || '.' || f.field, f.value order by s.position, s.id) from directory.journey_steps s
  cross join lateral (values ('title', to_json(s.title)), ('goal', to_json(s.goal)), ('success_criteria', to_json(s.success_criteria)),
    ('starter_message', to_json(s.starter_message)), ('position', to_json(s.position)), ('is_archived', to_json(s.is_archived)),
    ('pipeline_job', to_json(s.pipeline_job)), ('config', s.config::json)) as f(field, value)
  where s.journey_id = o.id)`;

const snapshots = {
  people: snapshot(
    'people',
    sql`o.key`,
    sql`'name', o.name, 'description', o.description, 'photo_url', o.photo_url, 'actor_kind', o.actor_kind, 'contact', o.contact, 'infos', o.infos`,
    sql`directory.people o`,
  ),
  holons: snapshot(
    'holons',
    sql`o.slug`,
    sql`'name', o.name, 'slug', o.slug, 'class', c.slug, 'parent_id', o.parent_id, 'description', o.description, 'links', o.links,
      'locations', coalesce(o.infos -> 'locations', '[]'), 'spheres', coalesce(o.infos -> 'spheres', '[]'), 'info_fields', o.infos - 'locations' - 'spheres', 'logo_url', o.logo_url,
      'journey_ids', coalesce((select json_agg(a.journey_id order by a.position, a.journey_id) from directory.holon_journeys a
        where a.holon_id = o.id), '[]')`,
    sql`directory.holons o join directory.object_classes c on c.id = o.class_id`,
  ),
  memberships: snapshot(
    'memberships',
    sql`o.key`,
    sql`'person_id', o.person_id, 'holon_id', o.holon_id, ${workflow}`,
    sql`directory.memberships o ${workflowJoins}`,
  ),
  relationships: snapshot(
    'relationships',
    sql`o.key`,
    sql`'from_holon_id', o.from_holon_id, 'to_holon_id', o.to_holon_id, ${workflow}`,
    sql`directory.relationships o ${workflowJoins}`,
  ),
  journeys: snapshot(
    'journeys',
    sql`o.slug`,
    sql`'slug', o.slug, 'name', o.name, 'description', o.description, 'svc_app', o.svc_app, 'object_kind', o.object_kind,
      'applies_to', (select c.slug from directory.object_classes c where c.id = o.applies_to_class_id), 'is_conversation', o.is_conversation,
      'public_visible', o.public_visible, 'bulk_add', o.bulk_add, 'texts', o.texts, 'steps', ${stepFields},
      'questions', coalesce((select json_agg(json_build_object('text', q.text, 'is_archived', q.is_retired) order by q.position, q.id)
        from directory.journey_questions q where q.journey_id = o.id), '[]')`,
    sql`directory.journeys o`,
  ),
  classes: snapshot(
    'classes',
    sql`o.slug`,
    sql`'slug', o.slug, 'object_kind', o.object_kind, 'parent', (select c.slug from directory.object_classes c where c.id = o.parent_id),
      'label', o.label, 'plural_label', o.plural_label, 'description', o.description, 'sort_order', o.sort_order, 'is_system', o.is_system,
      'is_active', o.is_active, 'icon_url', o.icon_url, 'conversation_event', o.conversation_event, 'private', o.private,
      'name_read_only', o.name_read_only, 'config', o.config,
      'allowed_children', coalesce((select json_agg(c.slug order by a.position, c.id) from directory.class_allowed_children a
        join directory.object_classes c on c.id = a.child_class_id where a.class_id = o.id), '[]'),
      'journeys', coalesce((select json_agg(j.slug order by a.position, j.id) from directory.class_journeys a
        join directory.journeys j on j.id = a.journey_id where a.class_id = o.id), '[]')`,
    sql`directory.object_classes o`,
  ),
  accounts: snapshot(
    'accounts',
    sql`lower(o.email)`,
    sql`'email', o.email, 'person_id', o.person_id, 'active', o.is_active, 'superuser', o.superuser, 'global_editor', o.global_editor,
      'groups', o.groups, 'password', o.password_hash,
      'teams', coalesce((select json_agg(json_build_object('holon_id', a.holon_id, 'active', a.is_active) order by a.holon_id)
        from directory.team_authority a where a.account_id = o.id), '[]')`,
    sql`directory.accounts o`,
  ),
  spheres: snapshot('spheres', sql`o.key`, sql`'name', o.name, 'is_active', o.is_active`, sql`directory.spheres o`),
} as const;

/** Creates the recorder of changes; one per process. */
export function createDirectoryHistory(): DirectoryHistory {
  const { journeys, ...others } = snapshots;
  return createHistory<HistoryKind>({
    ...others,
    journeys: async (tx, params) =>
      (await journeys(tx, params)).map((row) => ({ ...row, value: flattenSteps(row.value) })),
  });
}

function flattenSteps(value: string): string {
  const { steps, ...fields } = JSON.parse(value) as Record<string, unknown>;
  return JSON.stringify({ ...fields, ...(steps as object | null) });
}
