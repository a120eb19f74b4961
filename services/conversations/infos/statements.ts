/** Statements on `infos` alone. */
import { sql, statement, t } from '#libs/sql';
import { nextUpdatedAt } from '../statements.ts';

export const findInfos = statement.maybeOne({
  name: 'conversations.get-infos',
  params: { id: t.integer },
  row: { infos: t.json },
  pipelined: 'always',
  sql: ({ id }) => sql`select c.infos from conversations.conversations c where c.id = ${id}`,
});

/** `infos` is a JSON object. No row: absent. */
export const patchInfos = statement.maybeOne({
  name: 'conversations.patch-infos',
  params: { id: t.integer, infos: t.json },
  row: { infos: t.json },
  pipelined: 'when-busy',
  sql: ({ id, infos }) => sql`
    update conversations.conversations c
    set infos = c.infos || ${infos},
        updated_at = case when c.infos || ${infos} <> c.infos then ${nextUpdatedAt} else c.updated_at end
    where c.id = ${id}
    returning c.infos`,
});
