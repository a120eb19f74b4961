/** Reading the provider's artifact, whatever its format. */
export { scanArtifact, type Scanned } from './scan.ts';
export { UnreadableArtifact } from './unreadable.ts';
