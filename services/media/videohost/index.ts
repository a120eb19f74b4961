/** Uploads to the video host, for the clean-up. */
export { dropVideohostUploads } from './statements.ts';
