/** Calls the public API for the page, and turns failures into messages for visitors. */
import { readEvents } from './event-stream.js';
import { translate } from './strings.js';
import { isTurn, isWords } from './thread-store.js';

/** The server responds within 140 s or not at all. */
const timeoutMs = 150_000;
const maxWaitSeconds = 600;
const updatesTimeoutMs = 20_000;

/** Failure of a call. Its message is shown to the visitor, and the text of the visitor's message is preserved. */
export class ChatFailure extends Error {
  /**
   * @param {string} message
   * @param {{ waitSeconds?: number, retry?: boolean }} [how] `retry` false: the same message would fail again
   */
  constructor(message, { waitSeconds = 0, retry = true } = {}) {
    super(message);
    this.waitSeconds = waitSeconds;
    this.retry = retry;
  }
}

/**
 * @typedef {object} Message
 * @property {string} agent slug
 * @property {string} body
 * @property {string | null} visitorId
 * @property {string} name idempotency key: a message sent twice with the same name gets one reply
 */

/**
 * @param {Message} message
 * @param {AbortSignal} signal
 * @param {(html: string) => void} onSnapshot called with the partial reply, if it is streamed
 * @returns {Promise<import('./thread-store.js').Turn & { visitor_id: string }>}
 * @throws {ChatFailure}
 */
export async function sendMessage(message, signal, onSnapshot) {
  const response = await request(message, 'text/event-stream, application/json', signal);
  if (!response.ok) throw describeRefusal(response);
  const reply = isEvents(response)
    ? await followReply(response, onSnapshot)
    : await response.json().catch(() => undefined);
  if (isReply(reply)) return reply;
  // The connection was lost, but the server completes the reply: requests the complete reply with the same idempotency
  // key.
  const again = isEvents(response) ? await request(message, 'application/json', signal) : undefined;
  if (again?.ok === false) throw describeRefusal(again);
  /** @type {unknown} */
  const whole = await again?.json().catch(() => undefined);
  if (!isReply(whole)) throw new ChatFailure(translate('notWhole'));
  return whole;
}

/**
 * Returns new messages of an operator after a takeover. Returns undefined on a failure, as the next request follows
 * soon.
 * @param {string} agent slug
 * @param {{ visitorId: string, after: number, isPerson: boolean }} asked
 * @param {number} waitSeconds time to wait for new messages
 * @returns {Promise<{ words: import('./thread-store.js').Words[], next: number, isPerson: boolean } | undefined>}
 */
export async function readUpdates(agent, { visitorId, after, isPerson }, waitSeconds) {
  try {
    const response = await fetch(`/api/chat/${encodeURIComponent(agent)}/updates/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ visitor_id: visitorId, after, wait: waitSeconds, waits_for: isPerson ? 'person' : null }),
      signal: AbortSignal.timeout(updatesTimeoutMs),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    });
    if (!response.ok) return undefined;
    /** @type {{ waits_for?: unknown, messages?: unknown, next?: unknown }} */
    const { waits_for: waitsFor, messages, next } = await response.json();
    if (!Array.isArray(messages) || typeof next !== 'number') return undefined;
    return { words: messages.filter(isWords), next, isPerson: waitsFor === 'person' };
  } catch {
    return undefined;
  }
}

/** @param {Response} response */
function isEvents(response) {
  return response.headers.get('Content-Type')?.startsWith('text/event-stream') === true;
}

/**
 * @param {Response} response
 * @param {(html: string) => void} onSnapshot
 * @returns {Promise<unknown>} the complete turn; undefined when the connection was lost
 * @throws {ChatFailure} when the agent failed
 */
async function followReply(response, onSnapshot) {
  for await (const { event, data } of readEvents(response)) {
    if (event === 'done') return data;
    if (event === 'error') throw new ChatFailure(translate('noAnswer'));
    const html = /** @type {{ agent_html?: unknown } | null} */ (data)?.agent_html;
    if (event === 'snapshot' && typeof html === 'string') onSnapshot(html);
  }
  return undefined;
}

/**
 * @param {Message} message
 * @param {string} accept
 * @param {AbortSignal} signal
 */
async function request({ agent, body, visitorId, name }, accept, signal) {
  try {
    return await fetch(`/api/chat/${encodeURIComponent(agent)}/message/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': name, Accept: accept },
      body: JSON.stringify(visitorId === null ? { body } : { body, visitor_id: visitorId }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError') throw new ChatFailure(translate('tooLate'));
    if (!navigator.onLine) throw new ChatFailure(translate('offline'));
    throw new ChatFailure(translate('connectionFailed'));
  }
}

/** @param {Response} response */
function describeRefusal(response) {
  const waitSeconds = readRetryAfter(response.headers.get('Retry-After'));
  switch (response.status) {
    case 400:
      return new ChatFailure(translate('empty'), { retry: false });
    case 404:
      return new ChatFailure(translate('gone'), { retry: false });
    case 413:
    case 422:
      return new ChatFailure(translate('tooLong'), { retry: false });
    case 429:
      return new ChatFailure(translate('tooMuch'), { waitSeconds });
    case 503:
      return new ChatFailure(translate('noAnswer'), { waitSeconds });
    default:
      return new ChatFailure(translate('serverFault'), { waitSeconds });
  }
}

/**
 * Returns the seconds of a Retry-After header, which contains seconds or a date (RFC 9110).
 * @param {string | null} value
 */
function readRetryAfter(value) {
  if (value === null) return 0;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? 0 : Math.ceil(Math.min(Math.max(seconds, 0), maxWaitSeconds));
}

/**
 * @param {unknown} value
 * @returns {value is import('./thread-store.js').Turn & { visitor_id: string }}
 */
function isReply(value) {
  return isTurn(value) && typeof (/** @type {{ visitor_id?: unknown }} */ (value).visitor_id) === 'string';
}

/** Returns a random 128-bit name for a message. `crypto.randomUUID` is not available on pages without HTTPS. */
export function createMessageName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
