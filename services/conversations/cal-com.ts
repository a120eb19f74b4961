/**
 * Client of Cal.com's API v2 for reconciliation (rules/providers#calcom-api). Replies are parsed leniently and never
 * trusted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '#libs/infrastructure/errors';
import { PermanentJobError } from '#libs/infrastructure/jobs';
import { isJsonObject, isRawNumber, type JsonObject, parseJson } from '#libs/infrastructure/json';
import { type Outbound, OutboundError, type OutboundReply } from '#libs/infrastructure/outbound';
import { parseInstant } from '#libs/infrastructure/time';

const apiVersion = '2024-08-13';
const pageSize = 100;
const timeoutMs = 30_000;
const maxReplyBytes = 16 * 1_048_576;
/** Maximum number of bookings in a list, to limit memory use. */
const maxBookings = 100_000;
/** Maximum number of occurrences of a series. */
const maxSeries = 1_000;
/** Maximum number of attempts per request, without waits for the rate limit. */
const maxTries = 4;
const firstPauseMs = 500;
/** Maximum number of waits for the rate limit per request, and their maximum duration. */
const maxWaits = 20;
const maxWaitMs = 65_000;
const defaultWaitMs = 10_000;
/** Statuses that are requested; unconfirmed bookings never send a webhook. */
const statuses = 'upcoming,recurring,past,cancelled';

export interface CalComOptions {
  readonly outbound: Outbound;
  /** Setting CALCOM_API_URL: the URL before `/bookings`. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface CalCom {
  /**
   * Returns the bookings updated at `since` or later. @throws AppError unavailable, PermanentJobError when Cal.com
   * rejects the request
   */
  listBookings(since: string | null, run: CalComRun): Promise<CalBooking[]>;
  /** Returns the booking with the uid; returns undefined when it does not exist. */
  findBooking(uid: string, run: CalComRun): Promise<CalBooking | undefined>;
  /** Returns all occurrences of a series. */
  listSeries(seriesUid: string, run: CalComRun): Promise<CalBooking[]>;
}

interface CalComRun {
  readonly signal: AbortSignal;
  readonly progress?: (listed: number) => void;
}

export function createCalCom({ outbound, baseUrl, apiKey }: CalComOptions): CalCom {
  const base = baseUrl.replace(/(?<!\/)\/+$/, '');
  const headers = { authorization: `Bearer ${apiKey}`, 'cal-api-version': apiVersion, accept: 'application/json' };

  /** Requests JSON from the API. @returns undefined for a 404 */
  async function fetchJson(path: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    const request = { url: `${base}${path}`, headers, timeoutMs, maxBytes: maxReplyBytes, signal };
    for (let tries = 1, waits = 0; ;) {
      signal.throwIfAborted();
      const outcome = await outbound.request(request).then(readReply).catch(toFault);
      if (outcome.kind === 'reply') return outcome.document;
      if (outcome.kind === 'wait' && ++waits <= maxWaits) {
        await sleep(outcome.ms, undefined, { signal });
        continue;
      }
      if (tries++ >= maxTries)
        throw unavailable(
          `Cal.com returned no usable response: ${outcome.kind === 'wait' ? 'too many requests' : outcome.what}`,
        );
      await sleep(firstPauseMs * 2 ** (tries - 2) * (0.75 + Math.random() / 2), undefined, { signal });
    }
  }

  return {
    listBookings: async (since, { signal, progress }) => {
      // Sorted by creation, so that new bookings are appended and do not shift pages.
      const filter = new URLSearchParams({ status: statuses, sortCreated: 'asc', take: String(pageSize) });
      if (since !== null) filter.set('afterUpdatedAt', since);
      const found = new Map<string, CalBooking>();
      for (let skip = 0; ; skip += pageSize) {
        filter.set('skip', String(skip));
        const reply = await fetchJson(`/bookings?${filter.toString()}`, signal);
        const data = reply?.['data'];
        if (!Array.isArray(data)) throw unavailable('Cal.com returned a response without bookings');
        for (const item of data) {
          const booking = readCalBooking(item);
          if (booking !== undefined) found.set(booking.uid, booking);
        }
        progress?.(found.size);
        if (data.length === 0 || !hasMore(reply, data.length)) return [...found.values()];
        if (found.size > maxBookings)
          throw new PermanentJobError(`Cal.com has more than ${maxBookings} bookings. Restrict them with --since.`);
      }
    },
    findBooking: async (uid, { signal }) =>
      readCalBooking((await fetchJson(`/bookings/${encodeURIComponent(uid)}`, signal))?.['data']),
    listSeries: async (seriesUid, { signal }) => {
      const data = (await fetchJson(`/bookings/${encodeURIComponent(seriesUid)}`, signal))?.['data'];
      return Array.isArray(data) ? data.slice(0, maxSeries).flatMap((item) => readCalBooking(item) ?? []) : [];
    },
  };
}

/** Returns whether there are more pages: from the pagination of the reply, else whether the page is full. */
function hasMore(reply: JsonObject | undefined, count: number): boolean {
  const pagination = reply?.['pagination'];
  const hasNext = isJsonObject(pagination) ? pagination['hasNextPage'] : undefined;
  return typeof hasNext === 'boolean' ? hasNext : count >= pageSize;
}

type Outcome =
  | { readonly kind: 'reply'; readonly document: JsonObject | undefined }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'fault'; readonly what: string };

async function readReply(reply: OutboundReply): Promise<Outcome> {
  const { status } = reply;
  if (status === 200) {
    const document = parseJson(await reply.text());
    return isJsonObject(document) ? { kind: 'reply', document } : { kind: 'fault', what: 'no JSON object' };
  }
  reply.discard();
  if (status === 404) return { kind: 'reply', document: undefined };
  if (status === 429) return { kind: 'wait', ms: readWait(reply.headers) };
  if (status === 401 || status === 403)
    throw new PermanentJobError(`Cal.com rejected the key with ${status}. Check CALCOM_API_KEY.`);
  if (status >= 500) return { kind: 'fault', what: `status ${status}` };
  throw new PermanentJobError(`Cal.com rejected the request with ${status}.`);
}

function toFault(error: unknown): Outcome {
  if (error instanceof OutboundError) return { kind: 'fault', what: error.message };
  if (error instanceof SyntaxError) return { kind: 'fault', what: 'no JSON' };
  throw error;
}

/** Returns the wait in milliseconds from the header that has the seconds. */
function readWait(headers: Readonly<Record<string, string>>): number {
  const text = headers['retry-after'] ?? headers['x-ratelimit-reset'] ?? '';
  const ms = /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : defaultWaitMs;
  return Math.min(Math.max(ms, 100), maxWaitMs);
}

/** A booking of Cal.com's API v2. Fields of the wrong type count as missing. */
export interface CalBooking {
  readonly uid: string;
  readonly id: number | null;
  readonly status: 'accepted' | 'cancelled';
  readonly title: string | null;
  readonly start: string | null;
  readonly end: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly hosts: readonly string[];
  readonly attendees: readonly CalAttendee[];
  /** Each attendee has a seat, and joins or leaves the booking independently. */
  readonly hasSeats: boolean;
  /** Uid of the whole series; null for bookings outside a series. */
  readonly seriesUid: string | null;
  readonly videoCallUrl: string | null;
  readonly icsUid: string | null;
  readonly rescheduledFromUid: string | null;
  readonly rescheduledToUid: string | null;
  readonly cancellationReason: string | null;
}

/** An attendee in the format of webhooks. */
export interface CalAttendee {
  readonly name: string | null;
  readonly email: string | null;
  readonly phoneNumber?: string;
}

const maxUidLength = 250;
const maxListed = 1_000;

/**
 * Parses a booking. Returns undefined for unreadable bookings, and for unconfirmed and rejected ones, which never send
 * a webhook.
 */
export function readCalBooking(value: unknown): CalBooking | undefined {
  if (!isJsonObject(value)) return undefined;
  const uid = readUid(value['uid']);
  const status = value['status'];
  const createdAt = readTime(value['createdAt']);
  if (uid === null || createdAt === null || (status !== 'accepted' && status !== 'cancelled')) return undefined;
  return {
    uid,
    id: readNumber(value['id']),
    status,
    title: readString(value['title']),
    start: readSentTime(value['start']),
    end: readSentTime(value['end']),
    createdAt,
    updatedAt: readTime(value['updatedAt']) ?? createdAt,
    hosts: listObjects(value['hosts']).flatMap(({ email }) => readString(email) ?? []),
    attendees: listObjects(value['attendees']).map(readAttendee),
    hasSeats:
      listObjects(value['attendees']).some(({ seatUid }) => readString(seatUid) !== null) ||
      readNumber(value['seatsPerTimeSlot']) !== null,
    seriesUid: readUid(value['recurringBookingUid']),
    videoCallUrl: readVideoCallUrl(value),
    icsUid: readUid(value['icsUid']),
    rescheduledFromUid: readUid(value['rescheduledFromUid']),
    rescheduledToUid: readUid(value['rescheduledToUid']),
    cancellationReason: readString(value['cancellationReason']),
  };
}

function readAttendee({ name, email, phoneNumber }: JsonObject): CalAttendee {
  const phone = readString(phoneNumber);
  return { name: readString(name), email: readString(email), ...(phone === null ? {} : { phoneNumber: phone }) };
}

/**
 * Returns the video call URL. The API omits `metadata.videoCallUrl`, and returns it as `meetingUrl` or, in newer
 * releases, as `location`.
 */
function readVideoCallUrl(booking: JsonObject): string | null {
  const metadata = booking['metadata'];
  const candidates = [
    isJsonObject(metadata) ? metadata['videoCallUrl'] : undefined,
    booking['meetingUrl'],
    booking['location'],
  ];
  return candidates.map(readString).find((text) => text !== null && /^https?:\/\//i.test(text)) ?? null;
}

const readString = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null);

function readUid(value: unknown): string | null {
  const text = readString(value);
  return text === null || text.length > maxUidLength ? null : text;
}

function readNumber(value: unknown): number | null {
  const number = Number(isRawNumber(value) ? value.rawJSON : typeof value === 'number' ? value : Number.NaN);
  return Number.isSafeInteger(number) ? number : null;
}

function readTime(value: unknown): string | null {
  const text = readString(value);
  return text === null || parseInstant(text).kind === 'invalid' ? null : text;
}

/** Returns the time as sent, so that the webhook worker rejects unreadable times (D82). */
const readSentTime = (value: unknown): string | null =>
  value === undefined || value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);

function listObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject).slice(0, maxListed) : [];
}
