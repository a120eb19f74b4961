/** Exports the room state and its transcript window, for features that read or close the window. */
export { mergeRoomWindow, parseRoom, roomWindow } from './rules.ts';
export { findBoundaryConflict, type IncomingWindow, invalidWindow, readBoundary, storedInstant } from './rules.ts';
