/** Reading the provider's artifact, whatever its format. */
export { scanArtifact } from './scan.ts';
export { UnreadableArtifact } from './unreadable.ts';
