/** Outcomes of messaging updates (D20, D33b). */

/** First receipt id of this service, so that ids are unique across services. */
export const firstUpdateReceiptId = 1_000_000_001;

export const updateOutcomes = [
  'pending',
  'answering',
  'answered',
  'not_answered',
  'left_to_person',
  'send_unknown',
  'send_refused',
  'blocked',
  'expired',
  'failed',
  'echoed',
  'echo_failed',
  'ignored',
  'migrated',
  'agent_not_found',
  'rejected_secret',
  'rejected_too_large',
  'rejected_unreadable',
  'rejected_unsigned',
] as const;
export type UpdateOutcome = (typeof updateOutcomes)[number];
