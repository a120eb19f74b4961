/** `media.tickets.*`: lets one request of no client into the internal port. */
import { requestName } from '#libs/actor';
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
    issueUploadTicket: async ({ conversation_id: id, kind }) => ({
      ticket: await issueTicket(db, requestName('PUT', pathOfStored(id, kind))),
    }),
  };
}
