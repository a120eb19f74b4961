/**
 * The artifact is not a transcript. The message contains only positions: the bytes are speech, so messages and causes
 * of parsers are omitted.
 */
export class UnreadableArtifact extends Error {
  constructor(message: string) {
    super(`the artifact cannot be read: ${message}`);
    this.name = 'UnreadableArtifact';
  }
}

/** The document is incomplete; another download may succeed (D86). */
export class TruncatedArtifact extends UnreadableArtifact {
  constructor(message: string) {
    super(message);
    this.name = 'TruncatedArtifact';
  }
}

/** The bytes are not UTF-8 (D86). */
export class WrongEncoding extends UnreadableArtifact {
  /** Digest and size of the whole artifact. */
  readonly scanned: { readonly sha256: string; readonly bytes: number };

  constructor(encoding: string, scanned: { readonly sha256: string; readonly bytes: number }) {
    super(`its bytes are not UTF-8, they look like ${encoding}`);
    this.name = 'WrongEncoding';
    this.scanned = scanned;
  }
}
