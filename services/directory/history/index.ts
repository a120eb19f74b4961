/** Recording of changes; see `History` of `#libs/history`. */
export { createDirectoryHistory, type DirectoryHistory } from './statements/snapshots.ts';
