/** Cal.com's API v2, as far as reconciling needs it: bookings by page (rules/providers#calcom-api). What comes is read loosely and never trusted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '#libs/errors';
import { PermanentJobError } from '#libs/jobs';
import { isJsonObject, type JsonObject, parseJson } from '#libs/json';
import { type Outbound, OutboundError, type OutboundReply } from '#libs/outbound';
import { type CalBooking, readCalBooking } from './rules.ts';

const apiVersion = '2024-08-13';
const pageSize = 100;
const timeoutMs = 30_000;
const maxReplyBytes = 16 * 1_048_576;
/** More would be held in memory at once. */
const maxBookings = 100_000;
/** Occurrences of one series. */
const maxSeries = 1_000;
/** Tries of one request, waits for its rate limit not counted. */
const maxTries = 4;
const firstPauseMs = 500;
/** Waits for one request when Cal.com asks to wait, and the longest of them. */
const maxWaits = 20;
const maxWaitMs = 65_000;
const defaultWaitMs = 10_000;
/** Bookings that want a confirmation never had a webhook. */
const statuses = 'upcoming,recurring,past,cancelled';

export interface CalComOptions {
  readonly outbound: Outbound;
  /** CALCOM_API_URL; ends before `/bookings`. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface CalCom {
  /** All that changed at `since` or later, each once. @throws AppError unavailable, PermanentJobError when it refuses us */
  listBookings(since: string | null, run: CalComRun): Promise<CalBooking[]>;
  /** Undefined when there is none. */
  findBooking(uid: string, run: CalComRun): Promise<CalBooking | undefined>;
  /** All occurrences of a series. */
  listSeries(seriesUid: string, run: CalComRun): Promise<CalBooking[]>;
}

interface CalComRun {
  readonly signal: AbortSignal;
  readonly progress?: (listed: number) => void;
}

export function createCalCom({ outbound, baseUrl, apiKey }: CalComOptions): CalCom {
  const base = baseUrl.replace(/(?<!\/)\/+$/, '');
  const headers = { authorization: `Bearer ${apiKey}`, 'cal-api-version': apiVersion, accept: 'application/json' };

  /** Undefined for a 404. */
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
        throw unavailable(`Cal.com gave no usable answer: ${outcome.kind === 'wait' ? 'too many requests' : outcome.what}`);
      await sleep(firstPauseMs * 2 ** (tries - 2) * (0.75 + Math.random() / 2), undefined, { signal });
    }
  }

  return {
    listBookings: async (since, { signal, progress }) => {
      // By creation: what is booked meanwhile comes at the end, and nothing moves behind a page that was read.
      const filter = new URLSearchParams({ status: statuses, sortCreated: 'asc', take: String(pageSize) });
      if (since !== null) filter.set('afterUpdatedAt', since);
      const found = new Map<string, CalBooking>();
      for (let skip = 0; ; skip += pageSize) {
        filter.set('skip', String(skip));
        const reply = await fetchJson(`/bookings?${filter.toString()}`, signal);
        const data = reply?.['data'];
        if (!Array.isArray(data)) throw unavailable('Cal.com answered with something else than bookings');
        for (const item of data) {
          const booking = readCalBooking(item);
          if (booking !== undefined) found.set(booking.uid, booking);
        }
        progress?.(found.size);
        if (data.length === 0 || !hasMore(reply, data.length)) return [...found.values()];
        if (found.size > maxBookings)
          throw new PermanentJobError(`Cal.com has more than ${maxBookings} bookings: narrow them with --since.`);
      }
    },
    findBooking: async (uid, { signal }) => readCalBooking((await fetchJson(`/bookings/${encodeURIComponent(uid)}`, signal))?.['data']),
    listSeries: async (seriesUid, { signal }) => {
      const data = (await fetchJson(`/bookings/${encodeURIComponent(seriesUid)}`, signal))?.['data'];
      return Array.isArray(data) ? data.slice(0, maxSeries).flatMap((item) => readCalBooking(item) ?? []) : [];
    },
  };
}

/** As it says, else until a page is not full. */
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
  if (status === 401 || status === 403) throw new PermanentJobError(`Cal.com refused the key with ${status}: look at CALCOM_API_KEY.`);
  if (status >= 500) return { kind: 'fault', what: `status ${status}` };
  throw new PermanentJobError(`Cal.com refused the request with ${status}.`);
}

function toFault(error: unknown): Outcome {
  if (error instanceof OutboundError) return { kind: 'fault', what: error.message };
  if (error instanceof SyntaxError) return { kind: 'fault', what: 'no JSON' };
  throw error;
}

/** Seconds, in either of the headers. */
function readWait(headers: Readonly<Record<string, string>>): number {
  const text = headers['retry-after'] ?? headers['x-ratelimit-reset'] ?? '';
  const ms = /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : defaultWaitMs;
  return Math.min(Math.max(ms, 100), maxWaitMs);
}
