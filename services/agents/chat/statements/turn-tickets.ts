/**
 * Tickets for the turn of a thread (D33: one in-flight turn per thread, the next waits its turn). Tickets are numbered
 * under the thread's row lock, so their order is that of their commits; a holder that stops renewing its lease is passed over.
 */
import { sql, statement, t } from '#libs/sql';

/** Undefined when the thread is gone. */
export const issueTicket = statement.maybeOne({
  name: 'tickets.take',
  params: { threadId: t.bigint, leaseSeconds: t.double },
  row: { ticket: t.bigint },
  sql: ({ threadId, leaseSeconds }) => sql`with thread as (
      update agents.threads set last_ticket = last_ticket + 1 where id = ${threadId} returning id, last_ticket
    )
    insert into agents.turn_tickets (thread_id, ticket, lease_until)
    select id, last_ticket, clock_timestamp() + make_interval(secs => ${leaseSeconds}) from thread returning ticket`,
});

/** Renews the lease of a ticket; `earlier` tickets have their turn before it, undefined when the lease ran out. */
export const renewTicket = statement.maybeOne({
  name: 'tickets.renew',
  params: { threadId: t.bigint, ticket: t.bigint, leaseSeconds: t.double },
  row: { earlier: t.integer },
  sql: ({ threadId, ticket, leaseSeconds }) => sql`update agents.turn_tickets
    set lease_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where thread_id = ${threadId} and ticket = ${ticket} and lease_until > clock_timestamp()
    returning (
      select count(*)::integer from agents.turn_tickets earlier
      where earlier.thread_id = ${threadId} and earlier.ticket < ${ticket} and earlier.lease_until > clock_timestamp()
    ) as earlier`,
});

/** Ends the turn together with its effect; undefined when the lease ran out meanwhile and the effect must not happen. */
export const redeemTicket = statement.maybeOne({
  name: 'tickets.use',
  params: { threadId: t.bigint, ticket: t.bigint },
  row: { ticket: t.bigint },
  sql: ({ threadId, ticket }) => sql`delete from agents.turn_tickets
    where thread_id = ${threadId} and ticket = ${ticket} and lease_until > clock_timestamp() returning ticket`,
});

/** A thread that was made for a first turn which did not happen goes too, unless somebody else waits for it. */
export const deleteTicket = statement.none({
  name: 'tickets.return',
  params: { threadId: t.bigint, ticket: t.bigint },
  sql: ({ threadId, ticket }) => sql`with returned as (
      delete from agents.turn_tickets where thread_id = ${threadId} and ticket = ${ticket}
    )
    delete from agents.threads t where t.id = ${threadId} and t.turn_count = 0 and t.last_ticket = ${ticket}
      and not exists (select from agents.turn_tickets other where other.thread_id = ${threadId} and other.ticket <> ${ticket})`,
});

/** Removes what crashed processes and past minutes left. */
export const sweepTicketsAndHits = statement.none({
  name: 'tickets.sweep',
  sql: () => sql`with tickets as (delete from agents.turn_tickets where lease_until < clock_timestamp() - interval '1 hour')
    delete from agents.chat_hits where updated_at < statement_timestamp() - interval '5 minutes'`,
});
