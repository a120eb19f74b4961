/** The room state and its transcript window, for features that read or close it. */
export { mergeRoomWindow, parseRoom, roomWindow } from './rules.ts';
export { findBoundaryConflict, type IncomingWindow, invalidWindow, readBoundary, storedInstant } from './rules.ts';
