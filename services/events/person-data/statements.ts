/** Updates participants in the stored access of conversations (V4). */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Changes only conversations, because endpoints store their account in this column. */
export const replaceParticipant = statement.none({
  name: 'person-data.change-participant',
  params: { goneId: t.integer, intoId: t.integer },
  sql: ({ goneId, intoId }) => sql`
    update events.subjects s set people = array(select distinct own.id from unnest(array_replace(s.people, ${goneId}, ${intoId})) as own(id) order by 1)
    where s.type = 'conversation' and s.people @> array[${goneId}]`,
});
