/** What both ways of searching share: the kinds, the parameters and the body (rules/people#search; D42). */
import { type Sql, sql, type SqlPart, t } from '#libs/sql';
import { startsOfAddressesSql } from '../../address-keys.ts';
import { holonListItemSql, personListItemSql } from '../../public-json.ts';
import { viewerParams, type ViewerSql } from '../../viewer.ts';
import { holonVisibleSql } from '../../visibility.ts';

/** `limit`: results of a kind. */
export const searchParams = { text: t.text, limit: t.integer, kinds: t.text.array, ...viewerParams };
export type SearchAsked = Readonly<Record<keyof typeof searchParams, SqlPart>>;

/** What is searched. */
export interface SearchKind {
  readonly kind: 'person' | 'holon';
  readonly table: 'people' | 'holons';
  /** Rows that the caller may see, as `r`; `on` joins them to what is before. */
  readonly from: (on: Sql) => Sql;
  readonly visible: Sql;
  /** Conditions of rows whose address begins with the text, however it is written. */
  readonly addresses: (text: SqlPart) => readonly Sql[];
  readonly item: Sql;
}

export function searchKinds(viewer: ViewerSql): { readonly person: SearchKind; readonly holon: SearchKind } {
  return {
    person: {
      kind: 'person',
      table: 'people',
      from: (on) => sql`directory.people r ${on}`,
      visible: sql`true`,
      addresses: (text) => startsOfAddressesSql('r', text),
      item: personListItemSql('r'),
    },
    holon: {
      kind: 'holon',
      table: 'holons',
      from: (on) => sql`directory.holons r ${on} join directory.object_classes c on c.id = r.class_id`,
      visible: holonVisibleSql('r', 'c', viewer),
      addresses: () => [],
      item: holonListItemSql('r', 'c', viewer),
    },
  };
}

/** Tiers from the best to the last. */
export const scoresSql = sql`array[1, 0.8, 0.6, 0.4, 0.2]`;
/** What matched, the first of two that match in one tier. */
export const fieldsSql = sql`array['name', 'channel', 'description']`;

/** The body, from the CTE `<kind>_best` of each kind. */
export const resultsSql = ({ text, limit, kinds }: SearchAsked): Sql => sql`
  select json_build_object('query', ${text}, 'types', to_json(${kinds}), 'limit_per_type', ${limit}, 'count', count(*),
     'items', coalesce(json_agg(item order by tier, search_name, id, kind), '[]'))::text as body
   from (select * from person_best union all select * from holon_best) as results`;
