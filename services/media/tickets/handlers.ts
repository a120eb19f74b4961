/** `media.tickets.*`: lets one request of no client into the internal port. */
import { requestName } from '#libs/actor';
import { recordAudit } from '#libs/audit';
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { media } from '../contract.ts';
import { mediaPaths, pathOfStored } from '../http/contract.ts';
import { issueTicket } from './tickets.ts';

export function createTicketHandlers(db: Database): Pick<Handlers<typeof media>, 'issueDownloadTicket' | 'issueUploadTicket'> {
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
