/** Statements on tickets, of which only digests are stored. */
import { sql, statement, t } from '#libs/infrastructure/sql';

export const insertTicket = statement.none({
  name: 'media.issue-ticket',
  params: { digest: t.bytes, request: t.text, lifetimeSeconds: t.double },
  sql: ({ digest, request, lifetimeSeconds }) => sql`insert into media.tickets (ticket_sha256, request, expires_at)
    values (${digest}, ${request}, clock_timestamp() + make_interval(secs => ${lifetimeSeconds}))`,
});

/** Invalidates the ticket. Returns undefined when the ticket is not valid for this request. */
export const deleteTicket = statement.maybeOne({
  name: 'media.take-ticket',
  params: { digest: t.bytes, request: t.text },
  row: { request: t.text },
  sql: ({ digest, request }) => sql`delete from media.tickets
    where ticket_sha256 = ${digest} and request = ${request} and expires_at > statement_timestamp() returning request`,
});

/** Deletes expired tickets. */
export const deleteExpiredTickets = statement.none({
  name: 'media.drop-tickets',
  sql: () => sql`delete from media.tickets where expires_at < statement_timestamp()`,
});
