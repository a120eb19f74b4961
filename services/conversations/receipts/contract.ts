/** Outcomes and sources of booking and meeting webhooks (D20, D68). */

/** All outcomes of a booking or meeting webhook. */
export const bookingOutcomes = [
  'pending',
  'applied',
  'stale',
  'waiting',
  'ignored',
  'ambiguous_booking',
  'journey_error',
  'person_not_found',
  'refused_data_too_large',
  'refused_times',
  'refused_too_many_attendees',
  'rejected_signature',
  'rejected_too_large',
  'rejected_unidentified',
  'rejected_unreadable',
  'rejected_unsigned',
  'rejected_unverified',
] as const;

/** Outcomes of events that should have created a conversation but did not (V9). */
export const refusedOutcomes = [
  'ambiguous_booking',
  'journey_error',
  'refused_data_too_large',
  'refused_times',
  'refused_too_many_attendees',
  'rejected_unidentified',
] as const satisfies readonly (typeof bookingOutcomes)[number][];

export type BookingOutcome = (typeof bookingOutcomes)[number];

export const receiptSources = ['booking', 'meeting'] as const;
export type ReceiptSource = (typeof receiptSources)[number];
