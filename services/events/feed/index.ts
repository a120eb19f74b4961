/** What the composition of the service needs of the feed, and those who send it on. */
export { FeedChangeNotifier } from './change-notifier.ts';
export { findPage, findShown, type Page, type Wanted } from './scan.ts';
export { type FoundEvent, readHead } from './statements/read.ts';
export { readTypes } from './types.ts';
export { type Asking, everything, findViewer, type Viewer } from './viewer.ts';
export { createEventWriter, type EventWriter } from './writing.ts';
