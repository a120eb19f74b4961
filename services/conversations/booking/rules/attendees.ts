/** Reads the attendees of a Cal.com booking event (D19a, D83). */
import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import { emailKey, isBlank, phoneDigits, toSingleLine } from '#libs/infrastructure/text';

/** Maximum length of a text field; longer texts are truncated. */
export const maxTextLength = 1_000;

export const shorten = (text: string): string => text.slice(0, maxTextLength).toWellFormed();

export interface Attendee {
  readonly name: string;
  readonly email: string | null;
  /** Phone number as sent; only for attendees without an email. */
  readonly phone: string | null;
  /** Identifies an attendee within a booking: digest of the email, else of the phone number, else of the name. */
  readonly key: string;
}

const maxAttendees = 1_000;
const maxEmailLength = 320;
const maxPhoneLength = 50;
const minPhoneDigits = 5;
/** Cal.com generates this address for a guest who only entered a phone number. */
const placeholder = /@sms\.cal\.com$/i;

export function readAttendees(value: unknown): Attendee[] {
  if (!Array.isArray(value)) return [];
  const counts = new Map<string, number>();
  return value
    .filter(isJsonObject)
    .slice(0, maxAttendees)
    .map((item) => readAttendee(item, counts));
}

/**
 * Reads one attendee. @param counts occurrences of each name without an address, because two guests can have the same
 * name
 */
function readAttendee(item: JsonObject, counts: Map<string, number>): Attendee {
  const address = readLine(item['email'], maxEmailLength);
  const email = address === null || placeholder.test(address) ? null : address;
  const phone = email === null ? (readPhone(item['phoneNumber']) ?? readPlaceholder(address)) : null;
  const name = readLine(typeof item['name'] === 'string' ? shorten(item['name']) : null) ?? email ?? phone ?? 'Guest';
  if (email !== null || phone !== null) return { name, email, phone, key: attendeeKey({ email, phone }) };
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  return { name, email, phone, key: digest(`name:${name.toLowerCase()}:${count}`) };
}

function readLine(value: unknown, maxLength = Infinity): string | null {
  const line = typeof value === 'string' ? toSingleLine(value).trim() : '';
  return isBlank(line) || line.length > maxLength ? null : line;
}

function readPhone(value: unknown): string | null {
  const phone = readLine(value, maxPhoneLength);
  return phone === null || phoneDigits(phone).length < minPhoneDigits ? null : phone;
}

/** Returns the phone number in a placeholder address, which consists of digits with the country code. */
function readPlaceholder(address: string | null): string | null {
  const [digits = ''] = (address ?? '').split('@');
  return /^\d+$/.test(digits) ? readPhone(`+${digits}`) : null;
}

/** Returns the key of an attendee with an email or a phone number. */
export function attendeeKey({
  email,
  phone,
}: {
  readonly email: string | null;
  readonly phone: string | null;
}): string {
  return digest(email === null ? `phone:${phoneDigits(phone ?? '')}` : `email:${emailKey(email)}`);
}

/** Returns the key of a participant whose booking was made before attendees were recorded. */
export const participantKey = (personId: number): string => digest(`person:${personId}`);

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
