/**
 * The artifact is no transcript at all. The message says where, never what: the bytes are speech, and so no parser's own message
 * or cause is kept.
 */
export class UnreadableArtifact extends Error {
  constructor(message: string) {
    super(`the artifact cannot be read: ${message}`);
    this.name = 'UnreadableArtifact';
  }
}
