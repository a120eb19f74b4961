/** The one operation of the public API that the page uses, and its failures in words for visitors. */
import { isTurn } from './thread-store.js';

/** The server answers within 140 s or not at all. */
const timeoutMs = 150_000;
const maxWaitSeconds = 600;

/** What the visitor is told; the text is still theirs. */
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
 * @param {string} agent slug
 * @param {string} body
 * @param {string | null} visitorId
 * @param {string} name of this message: sent again under it, it is answered once
 * @param {AbortSignal} signal
 * @returns {Promise<import('./thread-store.js').Turn & { visitor_id: string }>}
 * @throws {ChatFailure}
 */
export async function sendMessage(agent, body, visitorId, name, signal) {
  const response = await request(agent, JSON.stringify(visitorId === null ? { body } : { body, visitor_id: visitorId }), name, signal);
  if (!response.ok) throw describeRefusal(response);
  /** @type {unknown} */
  const reply = await response.json().catch(() => undefined);
  if (!isReply(reply)) throw new ChatFailure('The reply did not arrive whole. Your message is still here.');
  return reply;
}

/**
 * @param {string} agent
 * @param {string} body
 * @param {string} name
 * @param {AbortSignal} signal
 */
async function request(agent, body, name, signal) {
  try {
    return await fetch(`/api/chat/${encodeURIComponent(agent)}/message/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': name },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError')
      throw new ChatFailure('The reply took too long. Your message is still here.');
    if (!navigator.onLine) throw new ChatFailure('You are offline. Your message is still here; send it when you are back.');
    throw new ChatFailure('The connection failed. Your message is still here.');
  }
}

/** @param {Response} response */
function describeRefusal(response) {
  const waitSeconds = readRetryAfter(response.headers.get('Retry-After'));
  switch (response.status) {
    case 400:
      return new ChatFailure('There is nothing to send in this message.', { retry: false });
    case 404:
      return new ChatFailure('This chat is no longer there.', { retry: false });
    case 413:
    case 422:
      return new ChatFailure('This message is too long. Please shorten it or send it in parts.', { retry: false });
    case 429:
      return new ChatFailure('That was too much at once. Your message is still here.', { waitSeconds });
    case 503:
      return new ChatFailure('No answer is possible right now. Your message is still here.', { waitSeconds });
    default:
      return new ChatFailure('Something went wrong on our side. Your message is still here.', { waitSeconds });
  }
}

/**
 * Seconds or a date (RFC 9110, Retry-After).
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

/** A name for a message: 128 random bits, also where the page came without encryption. */
export function createMessageName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
