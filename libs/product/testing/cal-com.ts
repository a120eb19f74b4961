/**
 * A fake of the API v2 of Cal.com, as far as the platform uses it: bookings by page and by uid, API key, version, rate
 * limit and faults. When a booking changes, the fake also creates the webhooks that Cal.com would send.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CalComBooking {
  readonly id: number;
  readonly uid: string;
  title: string;
  status: 'accepted' | 'cancelled' | 'pending' | 'rejected';
  readonly hosts: readonly { readonly name: string; readonly email: string }[];
  attendees: readonly {
    readonly name: string;
    readonly email: string;
    readonly phoneNumber?: string;
    readonly seatUid?: string;
  }[];
  readonly start: string;
  readonly end: string;
  readonly createdAt: string;
  updatedAt: string;
  readonly meetingUrl: string;
  readonly location: string;
  readonly icsUid: string;
  readonly rescheduledFromUid?: string;
  rescheduledToUid?: string;
  cancellationReason?: string;
  /** Set for an occurrence of a series. Requests with this uid return the whole series. */
  recurringBookingUid?: string;
}

export type CalComFault =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'nonsense' };

export interface CalComServer {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly bookings: Map<string, CalComBooking>;
  /** Requests that returned a page or a booking, and requests that were rate-limited. */
  readonly served: readonly string[];
  readonly limited: number;
  /** Makes the next requests fail, each with one of the faults in order. */
  fail(...faults: readonly CalComFault[]): void;
  /** Rate-limits one in every `requests` requests for a second; 0: none. */
  limitEvery(requests: number): void;
  stop(): Promise<void>;
}

const apiKey = 'cal_live_of_the_tests_0123456789';
const maxPageSize = 250;

export async function startCalCom(): Promise<CalComServer> {
  const bookings = new Map<string, CalComBooking>();
  const served: string[] = [];
  const faults: CalComFault[] = [];
  let limited = 0;
  let every = 0;
  let requests = 0;

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '/', 'http://cal.invalid');
    const send = (status: number, body: unknown, headers = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
    const fault = faults.shift();
    if (fault?.kind === 'dropped') return void request.socket.destroy();
    if (fault?.kind === 'redirect') return void response.writeHead(307, { location: fault.location }).end();
    if (fault?.kind === 'nonsense') return void response.writeHead(200).end('<html>');
    if (fault?.kind === 'status')
      return send(fault.status, { status: 'error', error: { code: 'X', message: 'scripted' } });
    if (request.headers.authorization !== `Bearer ${apiKey}`)
      return send(401, { status: 'error', error: { code: 'UnauthorizedException' } });
    if (request.headers['cal-api-version'] !== '2024-08-13') return send(404, { status: 'error' });
    if (every > 0 && ++requests % every === 0) {
      limited++;
      return send(429, { status: 'error', error: { code: 'TooManyRequests' } }, { 'retry-after': '1' });
    }
    served.push(`${url.pathname}${url.search}`);
    const [, uid] = /^\/v2\/bookings\/([^/]+)$/.exec(url.pathname) ?? [];
    if (uid !== undefined) {
      const requested = decodeURIComponent(uid);
      const series = [...bookings.values()].filter(({ recurringBookingUid }) => recurringBookingUid === requested);
      const data = bookings.get(requested) ?? (series.length > 0 ? series : undefined);
      return data === undefined ? send(404, { status: 'error' }) : send(200, { status: 'success', data });
    }
    if (url.pathname !== '/v2/bookings') return send(404, { status: 'error' });
    send(200, page(bookings, url.searchParams));
  };
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v2`,
    apiKey,
    bookings,
    served,
    get limited() {
      return limited;
    },
    fail: (...next) => void faults.push(...next),
    limitEvery: (requests) => {
      every = requests;
      requests = 0;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function page(bookings: ReadonlyMap<string, CalComBooking>, query: URLSearchParams) {
  const after = query.get('afterUpdatedAt');
  const requested = [...bookings.values()]
    .filter(({ updatedAt }) => after === null || Date.parse(updatedAt) >= Date.parse(after))
    .filter(({ status }) => status === 'accepted' || status === 'cancelled')
    .toSorted((left, right) => Date.parse(left.createdAt) - Date.parse(right.createdAt) || left.id - right.id);
  const take = Math.min(Number(query.get('take') ?? 100), maxPageSize);
  const skip = Number(query.get('skip') ?? 0);
  const data = requested.slice(skip, skip + take);
  const pagination = {
    totalItems: requested.length,
    remainingItems: Math.max(0, requested.length - skip - data.length),
    returnedItems: data.length,
    itemsPerPage: take,
    hasNextPage: skip + data.length < requested.length,
    hasPreviousPage: skip > 0,
  };
  return { status: 'success', data, pagination };
}
