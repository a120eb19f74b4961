/** Statements on `infos` alone. */
import { insertEventSql } from '#libs/feed';
import { sql, statement, t } from '#libs/sql';
import { conversationFeed } from '../feed/index.ts';
import { changesInfos, hasChanged, nextUpdatedAt } from '../statements.ts';

export const findInfos = statement.maybeOne({
  name: 'conversations.get-infos',
  params: { id: t.integer },
  row: { infos: t.json },
  pipelined: true,
  sql: ({ id }) => sql`select c.infos from conversations.conversations c where c.id = ${id}`,
});

/** `infos` is a JSON object. No row: absent. `told`: it changed something, and the feed is told (V2). */
export const patchInfos = statement.coalesced({
  name: 'conversations.patch-infos',
  params: { id: t.integer, infos: t.json },
  key: 'id',
  row: { infos: t.json, told: t.boolean },
  sql: (calls) => sql`
    with written as (
    update conversations.conversations c
    set infos = c.infos || i.infos,
        updated_at = case when ${changesInfos} then ${nextUpdatedAt} else c.updated_at end
    from ${calls}
    where c.id = i.id
    returning i.ordinal, c.id, c.infos, ${hasChanged} as told
    ), told as (${insertEventSql(conversationFeed.updated, { subjectId: sql`id`, from: sql`from written where told` })})
    select ordinal, infos, told from written`,
});
