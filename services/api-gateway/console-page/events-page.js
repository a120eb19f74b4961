/** The live event feed, restricted to what the account may read (V3, V4). */
import { Heading } from './address.js';
import { call, CallFailure } from './calls.js';
import { Command, Filters, List, refusalOf, toOptions } from './parts.js';
import { Time } from './times.js';
import { html, useEffect, useRef, useState } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').Event} Happened */

const maxItems = 200;
const waitSeconds = 20;
const retryDelayMs = 5_000;

/** @type {readonly import('./parts.js').Field[]} */
const fields = [{ name: 'types', label: 'Types', hint: 'conversation.*,question.changed' }];

/** @type {readonly import('./parts.js').Column<Happened>[]} */
const columns = [
  { title: 'Time', show: ({ occurred_at: at }) => html`<${Time} at=${at} />` },
  { title: 'Type', show: ({ type }) => type },
  { title: 'Subject', show: ({ subject }) => `${subject.type} ${subject.id}` },
  { title: 'Data', wide: true, show: ({ data }) => html`<code>${JSON.stringify(data)}</code>` },
];

/** @param {import('./pages.js').PageProperties} properties */
export function EventsPage({ query }) {
  const types = query.get('types') ?? undefined;
  const [following, setFollowing] = useState(true);
  const [items, setItems] = useState(/** @type {Happened[]} */ ([]));
  const [failure, setFailure] = useState('');
  const cursor = useRef('latest');
  useEffect(() => {
    setItems([]);
    cursor.current = 'latest';
  }, [types]);
  // A paused list retains its cursor: after resuming, it also shows the events of the pause.
  useEffect(() => {
    setFailure('');
    if (!following) return undefined;
    const controller = new AbortController();
    void follow(
      types,
      cursor,
      controller.signal,
      (found) => setItems((/** @type {Happened[]} */ before) => [...found, ...before].slice(0, maxItems)),
      setFailure,
    );
    return () => controller.abort();
  }, [types, following]);
  return html`<${Heading} title="Events">
      <p class="freshness">
        <button type="button" class="quiet" aria-pressed=${String(following)} onClick=${() => setFollowing(!following)}>
          Follow
        </button>
      </p>
    <//>
    <${Filters} fields=${fields} query=${query} />
    ${
      failure === ''
        ? null
        : html`<div class="problem" role="alert">
            <strong>Not loaded</strong>
            <p>${failure}</p>
          </div>`
    }
    ${
      failure !== '' && items.length === 0
        ? null
        : html`<${List}
            title="Events"
            columns=${columns}
            items=${items}
            id=${idOf}
            empty="No events since this page was opened."
          />`
    }
    <${Command} words=${['events', 'tail', ...toOptions({ type: types })]} />`;
}

/**
 * Requests events in a loop; each request waits until there are new events.
 * @param {string | undefined} types
 * @param {{ current: string }} cursor after the last known event
 * @param {AbortSignal} signal
 * @param {(found: Happened[]) => void} onFound newest first
 * @param {(failure: string) => void} onFailure
 */
async function follow(types, cursor, signal, onFound, onFailure) {
  while (!signal.aborted) {
    try {
      const query = {
        after: cursor.current,
        wait: waitSeconds,
        limit: maxItems,
        ...(types === undefined ? {} : { types }),
      };
      /** @type {{ items: Happened[], next: string }} */
      const page = await call('GET', '/v1/events', { query, signal });
      if (signal.aborted) return;
      cursor.current = page.next;
      onFailure('');
      if (page.items.length > 0) onFound(page.items.toReversed());
    } catch (error) {
      if (signal.aborted) return;
      onFailure(
        error instanceof CallFailure ? refusalOf(error) : 'Something went wrong. Reload the page and try again.',
      );
      if (error instanceof CallFailure && error.status >= 400 && error.status < 429) {
        cursor.current = 'latest';
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
    }
  }
}

/** @param {Happened} event */
function idOf({ id }) {
  return id;
}
