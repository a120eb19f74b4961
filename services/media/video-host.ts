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
  /** Thumbnail that the host shows; null without one. */
  readonly thumbnail: string | null;
}

/** Progress of an upload. `gone`: the host no longer has the upload. */
export type UploadState =
  | { readonly kind: 'incomplete'; readonly receivedBytes: number }
  | { readonly kind: 'complete'; readonly video: PublishedVideo }
  | { readonly kind: 'gone' };

/** Language and name that identify captions of a video. */
export interface CaptionLabel {
  /** BCP 47. */
  readonly language: string;
  /** Shown where a viewer chooses captions. */
  readonly name: string;
}

/** Captions are WebVTT. */
export interface CaptionHost {
  /** Returns their id. Existing captions with the same label are replaced. */
  add(videoId: string, label: CaptionLabel, file: Uint8Array, signal: AbortSignal): Promise<string>;
  /** False when the host no longer has these captions. */
  replace(id: string, file: Uint8Array, signal: AbortSignal): Promise<boolean>;
  remove(id: string, signal: AbortSignal): Promise<void>;
}

/** Calls for one channel; all fail with VideoHostError. */
export interface VideoHost {
  /** Name of the host in records. */
  readonly name: string;
  /** Starts an upload without publishing anything. Returns the address for sending bytes, a secret. */
  startUpload(
    details: VideoDetails,
    file: { sizeBytes: number; contentType: string },
    signal: AbortSignal,
  ): Promise<string>;
  readUploadState(session: string, sizeBytes: number, signal: AbortSignal): Promise<UploadState>;
  /** Sends the bytes from `offset` on. */
  send(
    session: string,
    chunk: Uint8Array,
    place: { offset: number; sizeBytes: number },
    signal: AbortSignal,
  ): Promise<UploadState>;
  /** Returns the address of the thumbnail on the host. */
  setThumbnail(videoId: string, jpeg: Uint8Array, signal: AbortSignal): Promise<string | null>;
  readonly captions: CaptionHost;
}

/**
 * Why a call failed. `away`: the host is unavailable; `busy`: rate limited; `refused`: permanently rejected;
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
