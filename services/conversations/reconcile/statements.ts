/** What is known of bookings by their uids, and when they were reconciled last (B1, B2). */
import { sql, statement, t } from '#libs/sql';

export const findKnown = statement.many({
  name: 'reconcile.find-known',
  params: { identifiers: t.text.array },
  row: { uid: t.text, bookingId: t.integer, cancelled: t.boolean, conversationId: t.integer.nullable, personId: t.integer.nullable },
  sql: ({
    identifiers,
  }) => sql`select substr(i.identifier, 5) as uid, b.id as "bookingId", b.cancelled, c.id as "conversationId", c.participant_ids[1] as "personId"
    from conversations.booking_identifiers i join conversations.bookings b on b.id = i.booking_id
    left join conversations.conversations c on c.id = b.conversation_id
    where i.identifier = any(${identifiers})`,
});

/** `due`: none was begun in the last day; `last`: when the last one that succeeded began. */
export const findDaily = statement.one({
  name: 'reconcile.find-daily',
  params: { type: t.text },
  row: { due: t.boolean, last: t.text.nullable },
  sql: ({ type }) => sql`select
      coalesce(max(created_at) <= clock_timestamp() - interval '1 day', true) as due,
      conversations.iso_utc(max(started_at) filter (where state = 'succeeded')) as last
    from conversations.jobs where type = ${type} and payload -> 'daily' = 'true'::jsonb`,
});
