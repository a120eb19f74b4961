/** What the database already has of the things that a workspace document names. `$1` = list of keys. */
import { statement, type Statement } from '#libs/orm';
import { infoFieldGroupsSql } from '../../info-field-groups.ts';
import type { ListName } from '../rules/vocabulary.ts';

export interface KeyRow {
  readonly key: string;
  readonly id: number;
}

function byKey(list: ListName, table: string, key: string): Statement {
  return statement(`workspace.find-${list}`, `select ${key} as key, id from directory.${table} where ${key} = any($1::text[])`);
}

export const findByKey: Record<ListName, Statement> = {
  spheres: byKey('spheres', 'spheres', 'key'),
  classes: byKey('classes', 'object_classes', 'slug'),
  journeys: byKey('journeys', 'journeys', 'slug'),
  people: byKey('people', 'people', 'key'),
  holons: byKey('holons', 'holons', 'slug'),
  accounts: byKey('accounts', 'accounts', 'lower(email)'),
  memberships: byKey('memberships', 'memberships', 'key'),
  relationships: byKey('relationships', 'relationships', 'key'),
};

/** `$1` = journey ids. */
export const findSteps = statement(
  'workspace.find-steps',
  `select id, journey_id, slug, position, is_archived from directory.journey_steps where journey_id = any($1::integer[])
   order by journey_id, position, id`,
);

export interface QuestionRow {
  readonly id: number;
  readonly journey_id: number;
  readonly text: string;
  readonly is_retired: boolean;
}

/** `$1` = journey ids; retired questions last, so that a text that comes back finds the living one first. */
export const findQuestions = statement(
  'workspace.find-questions',
  `select id, journey_id, text, is_retired from directory.journey_questions where journey_id = any($1::integer[])
   order by journey_id, is_retired, position, id`,
);

/** `$1` = JSON list of `{left_id, right_id}`, `$2` = keys. Keyless rows first, so that they are the natural match of a triple. */
export const findEdges: Record<'memberships' | 'relationships', Statement> = {
  memberships: edges('memberships', 'person_id', 'holon_id'),
  relationships: edges('relationships', 'from_holon_id', 'to_holon_id'),
};

function edges(table: 'memberships' | 'relationships', left: string, right: string): Statement {
  const columns = `e.id, e.key, e.${left} as left_id, e.${right} as right_id, e.journey_id`;
  return statement(
    `workspace.find-edges-${table}`,
    `select * from (
       select ${columns} from (select distinct left_id, right_id from jsonb_to_recordset($1::jsonb) as i(left_id integer, right_id integer)) as i
         join directory.${table} e on e.${left} = i.left_id and e.${right} = i.right_id
       union
       select ${columns} from directory.${table} e where e.key = any($2::text[])
     ) as found order by key nulls first, id`,
  );
}

export interface HashRow {
  /** In lower case. */
  readonly email: string;
  readonly password_hash: string | null;
}

/** `$1` = emails in lower case. */
export const findHashes = statement(
  'workspace.find-hashes',
  'select lower(email) as email, password_hash from directory.accounts where lower(email) = any($1::text[])',
);

export interface ClassFieldsRow {
  readonly holon_ids: readonly number[];
  /** Effective `info_field_groups` of their class as JSON. */
  readonly info_field_groups: string;
}

/** `$1` = holons; one row for each of their classes. */
export const findClassFields = statement(
  'workspace.find-class-fields',
  `select used.holon_ids, ${infoFieldGroupsSql('c')}::text as info_field_groups
   from (select class_id, array_agg(id) as holon_ids from directory.holons where id = any($1::integer[]) group by class_id) as used
   join directory.object_classes c on c.id = used.class_id`,
);
