/** Exports for the service and other features. */
export { FeedChangeNotifier } from './change-notifier.ts';
export { type EventFilter, findPage, findReadable, type Page, parseTypes } from './scan.ts';
export { createEventSerializer, type EventSerializer } from './serializer.ts';
export { type FoundEvent, readHead } from './statements/read.ts';
export { findViewer, type ReaderContext, type Viewer } from './viewer.ts';
