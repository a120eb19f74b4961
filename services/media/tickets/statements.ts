/**
 * Tickets for the internal port: what lets one request in that no client of the gateway makes. A ticket is good once, for one method and path,
 * for a minute, at every replica; only its digest is kept.
 */
import { createHash, randomBytes } from 'node:crypto';
import { statement, type Queryable } from '#libs/orm';

const lifeSeconds = 60;
const ticketPattern = /^[A-Za-z0-9_-]{43}$/;

const issueStatement = statement(
  'media.issue-ticket',
  `insert into media.tickets (ticket_sha256, request, expires_at) values ($1, $2, clock_timestamp() + make_interval(secs => $3))`,
);
const takeStatement = statement(
  'media.take-ticket',
  `delete from media.tickets where ticket_sha256 = $1 and request = $2 and expires_at > clock_timestamp() returning 1`,
);
/** Those that nobody used. */
export const dropExpiredTickets = statement('media.drop-tickets', 'delete from media.tickets where expires_at < clock_timestamp()');

/** @param request as `requestName` of libs/actor writes it. @returns the ticket, told this once */
export async function issueTicket(db: Queryable, request: string): Promise<string> {
  const ticket = randomBytes(32).toString('base64url');
  await db.query(issueStatement, [digest(ticket), request, lifeSeconds]);
  return ticket;
}

/** Uses the ticket up; false when there is none such for this request. */
export async function takeTicket(db: Queryable, ticket: string, request: string): Promise<boolean> {
  return ticketPattern.test(ticket) && (await db.query(takeStatement, [digest(ticket), request])).length > 0;
}

function digest(ticket: string): Buffer {
  return createHash('sha256').update(ticket).digest();
}
