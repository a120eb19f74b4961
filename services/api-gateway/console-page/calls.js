/** Calls the API with the session of the signed-in person, and turns failures into messages. */
import { createShared } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').PersonPublic} Person */
/** @typedef {{ is: 'unknown' } | { is: 'out', ended: boolean } | { is: 'in', person: Person }} Session */
/** @typedef {Readonly<Record<string, string | number | boolean | undefined>>} Query */

/** @type {ReturnType<typeof createShared<Session>>} */
export const session = createShared(unknownSession());

const usualTimeoutMs = 30_000;

/** All tabs of a browser share one session: when it starts or ends in one tab, the others check it again. */
const tabs = new BroadcastChannel('coherence-console');
tabs.addEventListener('message', () => void identify().catch(() => undefined));

/** Failure of a call. Its message is shown to the signed-in person; `status` 0 means that no response was received. */
export class CallFailure extends Error {
  /**
   * @param {string} message
   * @param {number} status
   * @param {string} [code] of the response
   */
  constructor(message, status, code = '') {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * @param {'GET' | 'POST'} method
 * @param {string} path below `/api`
 * @param {{ query?: Query, body?: unknown, signal?: AbortSignal, timeoutMs?: number }} [options]
 * @returns {Promise<any>} the JSON of the response
 * @throws {CallFailure}
 */
export async function call(method, path, { query = {}, body, signal, timeoutMs = usualTimeoutMs } = {}) {
  const response = await send(method, `/console/api${path}${toQuery(query)}`, { body, signal, timeoutMs });
  if (response.status === 401 && session.read().is === 'in') session.write({ is: 'out', ended: true });
  if (!response.ok) throw await describeRefusal(response);
  try {
    return await response.json();
  } catch (error) {
    throw signal?.aborted === true ? error : noAnswer();
  }
}

/**
 * Requests the signed-in person and stores the result in `session`. @throws {CallFailure} when this cannot be
 * determined
 */
export async function recognise() {
  await identify();
  tabs.postMessage('');
}

async function identify() {
  try {
    const { person } = await call('GET', '/v1/auth/whoami');
    session.write({ is: 'in', person });
  } catch (error) {
    if (!(error instanceof CallFailure) || error.status !== 401) throw error;
    session.write({ is: 'out', ended: false });
  }
}

/**
 * @param {string} email
 * @param {string} password
 * @throws {CallFailure}
 */
export async function signIn(email, password) {
  const response = await send('POST', '/console/session', { body: { email, password } });
  if (response.status === 401) throw new CallFailure('Email or password is wrong.', 401);
  if (!response.ok) throw await describeRefusal(response);
  const { person } = await response.json();
  session.write({ is: 'in', person });
  tabs.postMessage('');
}

/**
 * Sets the password of the invited account.
 * @param {string} token
 * @param {string} password
 * @returns {Promise<{ email: string }>}
 * @throws {CallFailure} 410 when the invitation has ended
 */
export async function acceptInvitation(token, password) {
  const response = await send('POST', '/console/invitation', { body: { token, password } });
  if (!response.ok) throw await describeRefusal(response);
  return response.json();
}

/** @throws {CallFailure} when the session may still exist */
export async function signOut() {
  const response = await send('POST', '/console/api/v1/auth/logout', { body: {} });
  if (!response.ok && response.status !== 401) throw await describeRefusal(response);
  session.write({ is: 'out', ended: false });
  tabs.postMessage('');
  // The browser also has a session at the identity provider, which is ended there.
  if (document.body.dataset['signIn'] === 'provider') location.assign('/console/sign-out');
}

/**
 * @param {string} method
 * @param {string} url
 * @param {{ body?: unknown, signal?: AbortSignal | undefined, timeoutMs?: number }} options
 */
async function send(method, url, { body, signal, timeoutMs = usualTimeoutMs }) {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    return await fetch(url, {
      method,
      ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw noAnswer();
  }
}

/** Returns the failure for a missing or incomplete response. */
function noAnswer() {
  return new CallFailure(navigator.onLine ? 'The platform did not answer.' : 'This device is offline.', 0);
}

/** @param {Response} response */
async function describeRefusal(response) {
  /** @type {{ code?: unknown, error?: unknown, message?: unknown, detail?: unknown }} */
  const answer = await response.json().catch(() => ({}));
  const code = [answer.code, answer.error].find((item) => typeof item === 'string');
  return new CallFailure(toWords(response, answer), response.status, typeof code === 'string' ? code : '');
}

/**
 * @param {Response} response
 * @param {{ message?: unknown, detail?: unknown }} answer
 */
function toWords({ status, headers }, { message, detail }) {
  const wait = headers.get('Retry-After');
  if (status === 429) return `Too many attempts. Please wait${wait === null ? '' : ` ${wait} seconds`}.`;
  if (status === 503) return 'Part of the platform is unavailable. Please try again.';
  if (typeof message === 'string') return message;
  if (Array.isArray(detail)) return detail.map(({ loc = [], msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('; ');
  if (status === 401) return 'The session has ended.';
  return typeof detail === 'string' ? detail : `The platform answered ${status}.`;
}

/** @param {Query} query */
export function toQuery(query) {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** @returns {Session} */
function unknownSession() {
  return { is: 'unknown' };
}
