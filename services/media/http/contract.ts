/** Contract of the two HTTP servers: paths, and tickets for the internal server (docs/adr/internal-http.md). */
import { byOperators, withoutActor, rpc, Type } from '#libs/infrastructure/contract';
import { id, type RecordingKind, StoredFile } from '../schemas.ts';

/**
 * Paths of the two HTTP servers: `/media` on the public port (default 8081), `/internal` on the internal port (8082).
 * Internal requests have an assertion of the gateway for exactly this method and path (`Actor`), or a ticket
 * (`Ticket`). `Request-Id` and `Deadline` work as on NATS.
 */
export const mediaPaths = Object.freeze({
  /**
   * POST: multipart form with the file in the field `audio`; returns 201 {@link AudioMetadata}. GET, HEAD: the bytes,
   * with ranges and validators. PUT: the bytes, from the bulk import; query `name`, and `attach=false` to leave
   * `infos.audio` unchanged.
   */
  conversationAudio: (conversationId: number): string => `/internal/conversations/${conversationId}/audio`,
  /**
   * PUT: the bytes of a recording; query `name`, and `finalized=true` for a trimmed recording that the full recording
   * replaces (D27).
   */
  recording: (conversationId: number, kind: RecordingKind): string =>
    `/internal/conversations/${conversationId}/recordings/${kind}`,
  /**
   * POST: multipart form with the file in the field `logo`; returns 200 `{experience}`. Errors use the envelope of
   * `/api/v1`.
   */
  holonLogo: (holonId: number): string => `/internal/holons/${holonId}/logo`,
  /** GET, HEAD: a file that is served without a token, under the URL that clients receive. */
  file: (path: { folder: string; owner: string; file: string }): string =>
    `/media/${[path.folder, path.owner, path.file].map(encodeURIComponent).join('/')}`,
});

/** Returns the path to which a file of the bulk import is sent with PUT. */
export function pathOfStored(conversationId: number, kind: StoredFile['kind']): string {
  return kind === 'audio' ? mediaPaths.conversationAudio(conversationId) : mediaPaths.recording(conversationId, kind);
}

const Ticket = Type.Object({
  ticket: Type.String({ description: 'Value of the header `Ticket`. Returned only once.' }),
});

export const ticketRpcs = {
  issueDownloadTicket: rpc({
    subject: 'media.tickets.issue-download',
    callers: { transcripts: withoutActor },
    summary: "Issues a ticket for one GET of a conversation's audio on the internal port, valid for a minute.",
    request: Type.Object({ conversation_id: id }),
    reply: Ticket,
  }),
  issueUploadTicket: rpc({
    subject: 'admin.media.tickets.issue-upload',
    callers: byOperators,
    audit: 'file.upload',
    summary: 'Issues a ticket for one PUT of a file of the bulk import on the internal port, valid for a minute.',
    request: Type.Object({ conversation_id: id, kind: StoredFile.properties.kind }),
    reply: Ticket,
  }),
};
