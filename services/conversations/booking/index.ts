/** Exports for other features. */
export { findConversationJourney } from './workers/prepare.ts';
export { attendeeKey, readAttendees } from './rules/attendees.ts';
