/** Paths of the two HTTP servers. */
import { byOperators, withoutActor, rpc, Type } from '#libs/contract';
import { id, type RecordingKind, StoredFile } from '../schemas.ts';

/**
 * Paths of the two HTTP servers: `/media` of the public one (default port 8081), `/internal` of the one inside (8082). There every request brings
 * an actor for exactly this method and path, from the gateway (`Actor`), or a ticket (`Ticket`, see `issueDownloadTicket`, `issueUploadTicket`);
 * Request-Id and Deadline as on NATS.
 */
export const mediaPaths = Object.freeze({
  /**
   * POST: multipart with file part `audio` → 201 {@link AudioMetadata}. GET, HEAD: the bytes, with ranges and validators.
   * PUT: the bytes themselves, from the bulk import; query `name`, and `attach=false` to leave `infos.audio` alone.
   */
  conversationAudio: (conversationId: number): string => `/internal/conversations/${conversationId}/audio`,
  /** PUT: the bytes of a recording; query `name`, and `finalized=true` for a trimmed one that gives way to the full one (D27). */
  recording: (conversationId: number, kind: RecordingKind): string => `/internal/conversations/${conversationId}/recordings/${kind}`,
  /** POST: multipart with file part `logo` → 200 `{experience}`; errors in the envelope of `/api/v1`. */
  holonLogo: (holonId: number): string => `/internal/holons/${holonId}/logo`,
  /** GET, HEAD: a file that is served without a token; the same path as in the address that clients get. */
  file: (path: { folder: string; owner: string; file: string }): string =>
    `/media/${[path.folder, path.owner, path.file].map(encodeURIComponent).join('/')}`,
});

/** Where a file of the bulk import is PUT. */
export function pathOfStored(conversationId: number, kind: StoredFile['kind']): string {
  return kind === 'audio' ? mediaPaths.conversationAudio(conversationId) : mediaPaths.recording(conversationId, kind);
}

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
