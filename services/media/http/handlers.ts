/**
 * Tickets for the internal port. A ticket allows one request that is not authenticated by the gateway. It is valid
 * once, for one method and path, for a minute, on every replica.
 */
import { createHash, randomBytes } from 'node:crypto';
import { requestName } from '#libs/infrastructure/actor';
import { recordAudit } from '#libs/infrastructure/audit';
import type { HandlersOf } from '#libs/infrastructure/nats';
import type { Queryable } from '#libs/infrastructure/sql';
import type { Dependencies } from '../dependencies.ts';
import { mediaPaths, pathOfStored, type ticketRpcs } from './contract.ts';
import { deleteTicket, insertTicket } from './statements.ts';

const lifetimeSeconds = 60;
const ticketPattern = /^[A-Za-z0-9_-]{43}$/;

export function createTicketHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof ticketRpcs> {
  return {
    issueDownloadTicket: async ({ conversation_id: id }) => ({
      ticket: await issueTicket(db, requestName('GET', mediaPaths.conversationAudio(id))),
    }),
    issueUploadTicket: ({ conversation_id: id, kind }, context) =>
      db.transaction(async (tx) => {
        recordAudit(tx, context, { target: { type: 'conversation', id }, changes: { kind } });
        return { ticket: await issueTicket(tx, requestName('PUT', pathOfStored(id, kind))) };
      }),
  };
}

/** Issues a ticket. @param request as returned by `requestName`. @returns the ticket; only its digest is stored */
async function issueTicket(db: Queryable, request: string): Promise<string> {
  const ticket = randomBytes(32).toString('base64url');
  await insertTicket(db, { digest: digestOf(ticket), request, lifetimeSeconds });
  return ticket;
}

/** Invalidates the ticket. Returns false when the ticket is not valid for this request. */
export async function redeemTicket(db: Queryable, ticket: string, request: string): Promise<boolean> {
  return ticketPattern.test(ticket) && (await deleteTicket(db, { digest: digestOf(ticket), request })) !== undefined;
}

function digestOf(ticket: string): Buffer {
  return createHash('sha256').update(ticket).digest();
}
