/**
 * Tickets for the turn of a thread (D33: one in-flight turn per thread, the next waits its turn). Tickets are numbered
 * under the thread's row lock, so their order is that of their commits; a holder that stops renewing its lease is passed over.
 */
import { type Queryable, statement, type Tx } from '#libs/orm';

const takeStatement = statement(
  'tickets.take',
  `with thread as (
     update agents.threads set last_ticket = last_ticket + 1 where id = $1 returning id, last_ticket
   )
   insert into agents.turn_tickets (thread_id, ticket, lease_until)
   select id, last_ticket, clock_timestamp() + make_interval(secs => $2::double precision) from thread returning ticket`,
);
const renewStatement = statement(
  'tickets.renew',
  `update agents.turn_tickets set lease_until = clock_timestamp() + make_interval(secs => $3::double precision)
   where thread_id = $1 and ticket = $2 and lease_until > clock_timestamp()
   returning not exists (
     select from agents.turn_tickets earlier
     where earlier.thread_id = $1 and earlier.ticket < $2 and earlier.lease_until > clock_timestamp()
   ) as first`,
);
const useStatement = statement(
  'tickets.use',
  `delete from agents.turn_tickets where thread_id = $1 and ticket = $2 and lease_until > clock_timestamp() returning 1`,
);
/** A thread that was made for a first turn which did not happen goes too, unless somebody else waits for it. */
const returnStatement = statement(
  'tickets.return',
  `with returned as (delete from agents.turn_tickets where thread_id = $1 and ticket = $2)
   delete from agents.threads t where t.id = $1 and t.turn_count = 0 and t.last_ticket = $2
     and not exists (select from agents.turn_tickets other where other.thread_id = $1 and other.ticket <> $2)`,
);
const sweepStatement = statement(
  'tickets.sweep',
  `with tickets as (delete from agents.turn_tickets where lease_until < clock_timestamp() - interval '1 hour')
   delete from agents.chat_hits where updated_at < clock_timestamp() - interval '5 minutes'`,
);

/** Undefined when the thread is gone. */
export async function takeTicket(db: Queryable, threadId: number, leaseSeconds: number): Promise<number | undefined> {
  const [row] = await db.query<{ ticket: number }>(takeStatement, [threadId, leaseSeconds]);
  return row?.ticket;
}

/** Keeps the ticket alive and tells whether its turn has come; `lost` when the lease ran out. */
export async function renewTicket(
  db: Queryable,
  threadId: number,
  ticket: number,
  leaseSeconds: number,
): Promise<'first' | 'waiting' | 'lost'> {
  const [row] = await db.query<{ first: boolean }>(renewStatement, [threadId, ticket, leaseSeconds]);
  if (row === undefined) return 'lost';
  return row.first ? 'first' : 'waiting';
}

/** Ends the turn together with its effect; false when the lease ran out meanwhile and the effect must not happen. */
export async function useTicket(tx: Tx, threadId: number, ticket: number): Promise<boolean> {
  return (await tx.query(useStatement, [threadId, ticket])).length > 0;
}

export async function returnTicket(db: Queryable, threadId: number, ticket: number): Promise<void> {
  await db.query(returnStatement, [threadId, ticket]);
}

/** Removes what crashed processes and past minutes left. */
export async function sweepTickets(db: Queryable): Promise<void> {
  await db.query(sweepStatement);
}
