/**
 * Tickets for the internal port: what lets one request in that no client of the gateway makes. A ticket is good once, for one method and path,
 * for a minute, at every replica.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Queryable } from '#libs/sql';
import { deleteTicket, insertTicket } from './statements.ts';

const lifeSeconds = 60;
const ticketPattern = /^[A-Za-z0-9_-]{43}$/;

/** @param request as `requestName` of libs/actor writes it. @returns the ticket, which is not stored */
export async function issueTicket(db: Queryable, request: string): Promise<string> {
  const ticket = randomBytes(32).toString('base64url');
  await insertTicket(db, { digest: digestOf(ticket), request, lifeSeconds });
  return ticket;
}

/** Uses the ticket up; false when there is none such for this request. */
export async function takeTicket(db: Queryable, ticket: string, request: string): Promise<boolean> {
  return ticketPattern.test(ticket) && (await deleteTicket(db, { digest: digestOf(ticket), request })) !== undefined;
}

function digestOf(ticket: string): Buffer {
  return createHash('sha256').update(ticket).digest();
}
