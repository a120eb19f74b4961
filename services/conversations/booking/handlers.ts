/** Returns the help text at GET /hook/booking/{person_id}. */
import type { RequestOf } from '#libs/infrastructure/contract';
import { rawBytes, type RawJson } from '#libs/infrastructure/nats';
import type { conversations } from '../contract.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import { bookingTriggers } from './rules/booking-event.ts';

export function createBookingHandlers(dependencies: Dependencies): Pick<Operations, 'bookingHint'> {
  return {
    bookingHint: (request) => bookingHint(dependencies, request),
  };
}

/** Returns the same text for every integer id, whether or not the person exists (D19a). */
async function bookingHint(
  _dependencies: Dependencies,
  request: RequestOf<typeof conversations.rpcs.bookingHint>,
): Promise<RawJson> {
  return rawBytes(
    `Booking webhook of person ${request.person_id}.\n` +
      'Register this address as a webhook subscriber in Cal.com, with the triggers ' +
      `${bookingTriggers.join(', ')} and the JSON payload as it is.\n` +
      'Requests are sent with POST and always answered with {"ok": true}.\n',
  );
}
