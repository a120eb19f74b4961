/** Recording of changes; see `History` of `#libs/history`. */
export { createDirectoryHistory, type DirectoryHistory, type HistoryKind } from './statements/snapshots.ts';
