/** Statements on classes, journeys and steps that are changed or deleted over the open API (W5, W14). */
import { type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { bodyRow } from '../lists/index.ts';

/** Finds a class, retired or not. */
export const findClass = statement.maybeOne({
  name: 'setup.find-class',
  params: { kind: t.text, slug: t.text },
  row: { id: t.integer, visible: t.boolean },
  sql: ({ kind, slug }) =>
    sql`select id, is_active as visible from directory.object_classes where object_kind = ${kind} and slug = ${slug}`,
});

/** Finds a class of any kind by its slug. */
export const findClassBySlug = statement.maybeOne({
  name: 'setup.find-class-by-slug',
  params: { slug: t.text },
  row: { id: t.integer },
  sql: ({ slug }) => sql`select id from directory.object_classes where slug = ${slug}`,
});

/** Finds a journey with its texts as JSON. */
export const findJourney = statement.maybeOne({
  name: 'setup.find-journey',
  params: { slug: t.text },
  row: { id: t.integer, texts: t.text },
  sql: ({ slug }) => sql`select id, texts::text as texts from directory.journeys where slug = ${slug}`,
});

/** Finds a step with its journey. */
export const findStep = statement.maybeOne({
  name: 'setup.find-step',
  params: { journey: t.text, step: t.text },
  row: { id: t.integer, journey_id: t.integer },
  sql: ({ journey, step }) => sql`
    select s.id, s.journey_id from directory.journey_steps s join directory.journeys j on j.id = s.journey_id
    where j.slug = ${journey} and s.slug = ${step}`,
});

type Table = 'object_classes' | 'journeys' | 'journey_steps';

/** Locks a row so that no other transaction can refer to it. */
const lockOf = (table: Table) =>
  statement.none({
    name: `setup.lock-${table}`,
    params: { id: t.integer },
    sql: ({ id }) => sql`select id from ${sql.id(`directory.${table}`)} where id = ${id} for update`,
  });

/** Deletes a row, with rows that are part of it. */
const deletionOf = (table: Table) =>
  statement.none({
    name: `setup.delete-${table}`,
    params: { id: t.integer },
    sql: ({ id }) => sql`delete from ${sql.id(`directory.${table}`)} where id = ${id}`,
  });

/** Counts what depends on a row, as JSON `{<name>: number}`. The row is locked. */
function usesOf(table: Table, counts: (id: Sql) => Readonly<Record<string, Sql>>) {
  return statement.one({
    name: `setup.count-uses-of-${table}`,
    params: { id: t.integer },
    row: bodyRow,
    sql: ({ id }) => {
      const fields = Object.entries(counts(sql`${id}`)).map(
        ([name, from]) => sql`${sql.literal(name)}, (select count(*) from ${from})`,
      );
      return sql`select json_build_object(${sql.join(fields, sql`, `)})::text as body`;
    },
  });
}

export const classRows = {
  lock: lockOf('object_classes'),
  delete: deletionOf('object_classes'),
  countUses: usesOf('object_classes', (id) => ({
    holons: sql`directory.holons where class_id = ${id}`,
    subclasses: sql`directory.object_classes where parent_id = ${id}`,
    allowed_children: sql`directory.class_allowed_children where child_class_id = ${id} and class_id <> ${id}`,
    applies_to: sql`directory.journeys where applies_to_class_id = ${id}`,
  })),
};

export const journeyRows = {
  lock: lockOf('journeys'),
  delete: deletionOf('journeys'),
  countUses: usesOf('journeys', (id) => ({
    memberships: sql`directory.memberships where journey_id = ${id}`,
    relationships: sql`directory.relationships where journey_id = ${id}`,
    catalogues: sql`(select holon_id from directory.holon_journeys where journey_id = ${id}
      union all select class_id from directory.class_journeys where journey_id = ${id}) as catalogues`,
  })),
};

export const stepRows = {
  lock: lockOf('journey_steps'),
  delete: deletionOf('journey_steps'),
  countUses: usesOf('journey_steps', (id) => ({
    memberships: sql`directory.memberships where step_id = ${id}`,
    relationships: sql`directory.relationships where step_id = ${id}`,
  })),
};
