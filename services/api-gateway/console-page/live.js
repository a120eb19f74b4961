/** Data that is refreshed automatically, and its age. */
import { CallFailure } from './calls.js';
import { useAge } from './times.js';
import { createShared, html, useCallback, useEffect, useRef, useState } from './ui.js';

/**
 * @template T
 * @typedef {object} Live
 * @property {T | undefined} data of the last response, preserved during a refresh
 * @property {CallFailure | undefined} failure of the last request
 * @property {number} at when `data` was received
 * @property {() => void} refresh
 */

const everyMs = 10_000;
/** Whether pages refresh automatically. Slow readers and users of screen readers can switch this off. */
const isRunning = createShared(true);

/**
 * Loads data and refreshes it every 10 s.
 * @template T
 * @param {string} key identifies the request: a new key starts a new request
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @returns {Live<T>}
 */
export function useLive(key, load) {
  /** @type {[{ key: string, data: T | undefined, failure: CallFailure | undefined, at: number }, (next: any) => void]} */
  const [state, setState] = useState({ key, data: undefined, failure: undefined, at: 0 });
  const [round, setRound] = useState(0);
  const running = isRunning.use();
  const loader = useRef(load);
  loader.current = load;
  const isLoading = useRef(false);

  useEffect(() => {
    const controller = new AbortController();
    isLoading.current = true;
    /** @param {Partial<typeof state>} change */
    const keep = (change) => {
      if (controller.signal.aborted) return;
      isLoading.current = false;
      setState((/** @type {typeof state} */ before) => ({
        ...(before.key === key ? before : { data: undefined, at: 0 }),
        key,
        ...change,
      }));
    };
    loader.current(controller.signal).then(
      (data) => keep({ data, failure: undefined, at: Date.now() }),
      (error) =>
        keep({
          failure:
            error instanceof CallFailure
              ? error
              : new CallFailure('Something went wrong. Reload the page and try again.', 0),
        }),
    );
    return () => controller.abort();
  }, [key, round]);

  const refresh = useCallback(() => setRound((/** @type {number} */ before) => before + 1), []);
  useEffect(() => {
    if (!running) return undefined;
    // Skips a refresh while a request is pending. A response can take longer than the interval, e.g. while a service is
    // down, and each refresh would abort it.
    const timer = setInterval(() => document.hidden || isLoading.current || refresh(), everyMs);
    return () => clearInterval(timer);
  }, [running, key]);

  const current = state.key === key ? state : { data: undefined, failure: undefined, at: 0 };
  return { data: current.data, failure: current.failure, at: current.at, refresh };
}

/** Shows the age of the data and the controls to refresh it. @param {{ live: Live<unknown> }} properties */
export function Freshness({ live }) {
  const running = isRunning.use();
  const age = useAge(live.at);
  return html`<p class="freshness">
    <span>${live.at !== 0 ? html`As of ${age}` : live.failure === undefined ? 'Loading…' : 'Not loaded'}</span>
    <button type="button" class="quiet" onClick=${live.refresh}>Refresh</button>
    <button type="button" class="quiet" aria-pressed=${String(running)} onClick=${() => isRunning.write(!running)}>
      Every 10 s
    </button>
  </p>`;
}

/**
 * Shows the names of services that did not respond.
 * @param {{ names: readonly string[] | undefined, what?: string }} properties `what` explains what is missing, by
 * default in a list
 */
export function Missing({ names = [], what = 'Their items are missing. Refresh the page once they answer.' }) {
  if (names.length === 0) return null;
  return html`<div class="problem" role="alert">
    <strong>Incomplete</strong>
    <p>No answer from ${names.join(', ')}. ${what}</p>
  </div>`;
}

/**
 * Shows an error instead of the data, or above outdated data.
 * @param {{ live: Live<unknown> }} properties
 */
export function Trouble({ live: { failure, data } }) {
  if (failure === undefined) return null;
  const title = failure.status === 403 ? 'You do not have access' : failure.status === 404 ? 'Not found' : 'Not loaded';
  return html`<div class="problem" role="alert">
    <strong>${title}</strong>
    <p>${failure.message}${data === undefined ? '' : ' The data below may be out of date.'}</p>
  </div>`;
}
