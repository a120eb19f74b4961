/** Interface of a video host; `videohost/youtube.ts` implements it. */

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
  /** URL of the thumbnail that the host displays; null when the video has none. */
  readonly thumbnail: string | null;
}

/** Progress of an upload. `gone` means that the host no longer has the upload. */
export type UploadState =
  | { readonly kind: 'incomplete'; readonly receivedBytes: number }
  | { readonly kind: 'complete'; readonly video: PublishedVideo }
  | { readonly kind: 'gone' };

/** Language and name that identify the captions of a video. */
export interface CaptionLabel {
  /** BCP 47. */
  readonly language: string;
  /** Name in the caption menu of the player. */
  readonly name: string;
}

/** Manages the captions of videos, which are WebVTT files. */
export interface CaptionHost {
  /** Adds captions and returns their id. Existing captions with the same label are replaced. */
  add(videoId: string, label: CaptionLabel, file: Uint8Array, signal: AbortSignal): Promise<string>;
  /** Replaces captions. Returns false when the host no longer has them. */
  replace(id: string, file: Uint8Array, signal: AbortSignal): Promise<boolean>;
  remove(id: string, signal: AbortSignal): Promise<void>;
}

/** Calls to the host for one channel. All calls fail with VideoHostError. */
export interface VideoHost {
  /** Name of the host in records. */
  readonly name: string;
  /** Starts an upload without publishing anything. Returns the URL to which the bytes are sent, which is a secret. */
  startUpload(
    details: VideoDetails,
    file: { sizeBytes: number; contentType: string },
    signal: AbortSignal,
  ): Promise<string>;
  readUploadState(session: string, sizeBytes: number, signal: AbortSignal): Promise<UploadState>;
  /** Sends a chunk of the file, starting at `offset`. */
  send(
    session: string,
    chunk: Uint8Array,
    place: { offset: number; sizeBytes: number },
    signal: AbortSignal,
  ): Promise<UploadState>;
  /** Sets the thumbnail of a video. Returns the URL of the thumbnail on the host. */
  setThumbnail(videoId: string, jpeg: Uint8Array, signal: AbortSignal): Promise<string | null>;
  readonly captions: CaptionHost;
}

/**
 * Failure of a call. `away`: the host is unavailable; `busy`: rate limited; `refused`: permanently rejected;
 * `unauthorized`: needs other credentials.
 */
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
