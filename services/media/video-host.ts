/** A host of videos, as the publishing job sees it. Another host is another implementation of this. */

export interface VideoDetails {
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly categoryId: string;
  readonly privacy: 'private' | 'unlisted' | 'public';
}

export interface PublishedVideo {
  readonly id: string;
  readonly url: string;
  /** Picture that the host shows; null while it has none. */
  readonly thumbnail: string | null;
}

/** How far an upload is. `gone`: the host does not know it any more. */
export type UploadState =
  | { readonly kind: 'incomplete'; readonly receivedBytes: number }
  | { readonly kind: 'complete'; readonly video: PublishedVideo }
  | { readonly kind: 'gone' };

/** Captions of one video: the host has one file for each language and name. */
export interface CaptionLabel {
  /** BCP 47. */
  readonly language: string;
  /** Shown where a viewer chooses captions. */
  readonly name: string;
}

/** Captions are WebVTT. */
export interface CaptionHost {
  /** Their id; what is there already is replaced. */
  add(videoId: string, label: CaptionLabel, file: Uint8Array, signal: AbortSignal): Promise<string>;
  /** False when the host has no such captions any more. */
  replace(id: string, file: Uint8Array, signal: AbortSignal): Promise<boolean>;
  remove(id: string, signal: AbortSignal): Promise<void>;
}

/** Calls for one channel; all fail with VideoHostError. */
export interface VideoHost {
  /** Name of the host, for the record. */
  readonly name: string;
  /** Begins an upload; nothing is published by it. The address under which it goes on is a secret. */
  startUpload(details: VideoDetails, file: { sizeBytes: number; contentType: string }, signal: AbortSignal): Promise<string>;
  readUploadState(session: string, sizeBytes: number, signal: AbortSignal): Promise<UploadState>;
  /** Sends the bytes that begin at `offset`. */
  send(session: string, chunk: Uint8Array, place: { offset: number; sizeBytes: number }, signal: AbortSignal): Promise<UploadState>;
  /** The address of the picture as the host shows it. */
  setThumbnail(videoId: string, jpeg: Uint8Array, signal: AbortSignal): Promise<string | null>;
  readonly captions: CaptionHost;
}

/** Why a call failed: `away` may work later, `busy` when the host says so, `refused` never, `unauthorized` with other credentials. */
export class VideoHostError extends Error {
  readonly kind: 'away' | 'busy' | 'refused' | 'unauthorized';
  readonly retryAfterMs: number | undefined;

  constructor(kind: VideoHostError['kind'], message: string, retryAfterMs?: number) {
    super(message);
    this.name = 'VideoHostError';
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}
