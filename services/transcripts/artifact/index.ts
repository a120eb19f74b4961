/** Reading the provider's artifact, whatever its format. */
export { scanArtifact, type ArtifactFormat } from './scan.ts';
export { TruncatedArtifact, UnreadableArtifact, WrongEncoding } from './unreadable.ts';
