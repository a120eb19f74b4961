/** Recording of changes; see `History` of `#libs/product/history`. */
export { createDirectoryHistory, type DirectoryHistory } from './statements/snapshots.ts';
