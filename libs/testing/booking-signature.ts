/** Cal.com's signature as tests make it: every test environment has this secret. */
import { createHmac } from 'node:crypto';

export const bookingSecret = 'booking-secret-of-the-tests';

/** The header that belongs to exactly these bytes. */
export function signBooking(body: string | Buffer, secret = bookingSecret): { 'x-cal-signature-256': string } {
  return { 'x-cal-signature-256': createHmac('sha256', secret).update(body).digest('hex') };
}
