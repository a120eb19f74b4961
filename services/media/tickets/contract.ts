/** Tickets for the internal port (docs/adr/internal-http.md). */
import { byOperators, withoutActor, rpc, Type } from '#libs/contract';
import { id, StoredFile } from '../schemas.ts';

const Ticket = Type.Object({ ticket: Type.String({ description: 'For the header `Ticket`; told this once.' }) });

export const ticketRpcs = {
  issueDownloadTicket: rpc({
    subject: 'media.tickets.issue-download',
    callers: { transcripts: withoutActor },
    summary: "Lets one GET of a conversation's audio into the internal port, within a minute.",
    request: Type.Object({ conversation_id: id }),
    reply: Ticket,
  }),
  issueUploadTicket: rpc({
    subject: 'admin.media.tickets.issue-upload',
    callers: byOperators,
    audit: 'file.upload',
    summary: 'Lets one PUT of a file of the bulk import into the internal port, within a minute.',
    request: Type.Object({ conversation_id: id, kind: StoredFile.properties.kind }),
    reply: Ticket,
  }),
};
