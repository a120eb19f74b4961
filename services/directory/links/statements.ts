/** Finds stored values that may be links that are no longer accepted (D72). */
import { type Sql, sql, statement, t } from '#libs/infrastructure/sql';

/** Values with an allowed scheme need no further check. */
const isUsual = (value: Sql): Sql => sql`${value} ~* '^(https?://[^[:space:]/]|mailto:|tel:)[^[:cntrl:]]*$'`;

/** Returns at most 10,000 candidates; `texts/rules.ts` decides whether they are accepted. */
export const findLinkCandidates = statement.many({
  name: 'links.find-unusual',
  row: { kind: t.text.as<'person' | 'holon'>(), id: t.integer, field: t.text, value: t.text },
  sql: () => sql`select 'holon' as kind, h.id, 'links.' || link.key as field, link.value
   from directory.holons h, jsonb_each_text(h.links) as link where link.value <> '' and not ${isUsual(sql`link.value`)}
   union all select 'person', p.id, 'contact.' || channel.key, channel.value
   from directory.people p, jsonb_each_text(p.contact) as channel
   where channel.value ~ '[:：]|[[:cntrl:]]' and not ${isUsual(sql`channel.value`)}
   union all select 'person', p.id, 'photo_url', p.photo_url from directory.people p where p.photo_url !~* '^https?://[^[:space:]/][^[:cntrl:]]*$'
   limit 10000`,
});
