/** What a booking webhook is, by its bytes alone (D33d, D64). */
import { listSecretValues } from '#libs/config';
import { toSingleLine } from '#libs/text';
import { describeUnsigned, findSigner, readWebhookBody, unsignedOutcome } from '#libs/webhooks';
import { type BookingEvent, type BookingTrigger, bookingTriggers, readBooking } from './rules/booking-event.ts';
import { shorten } from './rules/shorten.ts';

export type Verdict =
  | {
      readonly kind: 'rejected';
      readonly outcome: 'rejected_too_large' | 'rejected_signature' | 'rejected_unreadable' | typeof unsignedOutcome;
      readonly message: string;
    }
  | { readonly kind: 'ignored'; readonly trigger: string | null; readonly message: string }
  | { readonly kind: 'booking'; readonly event: BookingEvent };

/** With the index of the secret with which it is signed; undefined when it is not. */
export type SignedVerdict = Verdict & { readonly signer?: number | undefined };

/** Who is believed (D64). */
export interface BookingTrust {
  /** Of several values any may have signed (K8); empty = no signature can be checked. */
  readonly BOOKING_WEBHOOK_SECRET: string;
  readonly ALLOW_UNSIGNED_WEBHOOKS: boolean;
}

export interface RawWebhook {
  /** Null when it was too large to be kept. */
  readonly body: Buffer | null;
  /** `X-Cal-Signature-256`. */
  readonly signature: string | undefined;
}

/** Keys of names and titles, and of addresses. */
const cleaned = { lines: new Set(['title', 'name']), words: new Set(['email', 'videoCallUrl']) };

/** What a webhook is, by its bytes alone. */
export function judgeWebhook({ body, signature }: RawWebhook, trust: BookingTrust): SignedVerdict {
  const secrets = listSecretValues(trust.BOOKING_WEBHOOK_SECRET);
  if (secrets.length === 0 && !trust.ALLOW_UNSIGNED_WEBHOOKS) {
    return { kind: 'rejected', outcome: unsignedOutcome, message: describeUnsigned('BOOKING_WEBHOOK_SECRET') };
  }
  if (body === null) return { kind: 'rejected', outcome: 'rejected_too_large', message: 'The body is over the size limit.' };
  const signer = findSigner(signature, secrets, body);
  if (secrets.length > 0 && signer === undefined) {
    return { kind: 'rejected', outcome: 'rejected_signature', message: 'The signature does not fit the body and the secret.' };
  }
  return { ...readWebhook(body, signer !== undefined), signer };
}

/** What a webhook is that is believed, e.g. because its signature was checked when it came: the secret may have been replaced since (K8). */
export function readWebhook(body: Buffer, isSigned: boolean): Verdict {
  const document = readWebhookBody(body, cleaned);
  if (document === undefined)
    return { kind: 'rejected', outcome: 'rejected_unreadable', message: 'The body is not a JSON object, or is nested too deeply.' };
  const trigger = document['triggerEvent'];
  if (typeof trigger !== 'string') return { kind: 'ignored', trigger: null, message: 'The body has no triggerEvent.' };
  if (!isBookingTrigger(trigger))
    return { kind: 'ignored', trigger: toSingleLine(shorten(trigger)), message: 'No booking event that is acted on.' };
  const event = readBooking(trigger, document, isSigned);
  if (trigger === 'BOOKING_REQUESTED' && (event.uid === null || event.rescheduleUid === null))
    return { kind: 'ignored', trigger, message: 'A request that reschedules nothing; its confirmation counts.' };
  return { kind: 'booking', event };
}

function isBookingTrigger(trigger: string): trigger is BookingTrigger {
  return (bookingTriggers as readonly string[]).includes(trigger);
}

export const signatureHeader = 'x-cal-signature-256';
