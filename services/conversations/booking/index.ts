/** What other features need of bookings. */
export { findConversationJourney } from './workers/prepare.ts';
export { attendeeKey, readAttendees } from './rules/attendees.ts';
