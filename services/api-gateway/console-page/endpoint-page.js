/** One webhook endpoint: its deliveries with every attempt, and redelivery (V5, V11). */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { EndpointState } from './endpoints-page.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Dialog, Facts, Failure, Filters, List, Pages, readForm, toOptions, useAct } from './parts.js';
import { fromField, Time } from './times.js';
import { html, useRef, useState } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').WebhookEndpoint} Endpoint */
/** @typedef {import('../../../clients/typescript/operations.ts').WebhookDelivery} Delivery */
/** @typedef {{ endpoint: Endpoint, deliveries: { items: Delivery[], next: string | null } }} Shown */

const rows = 50;
const states = ['pending', 'delivered', 'failed'];

/** @type {readonly import('./parts.js').Field[]} */
const fields = [{ name: 'status', label: 'Status', options: states.map((state) => [state, state]) }];

/** @param {import('./pages.js').PageProperties} properties */
export function EndpointPage({ names: [id = ''], query }) {
  const [dialog, setDialog] = useState(/** @type {'' | 'recover' | 'toggle'} */ (''));
  const path = `/v1/webhook-endpoints/${encodeURIComponent(id)}`;
  const [status, cursor] = ['status', 'cursor'].map((name) => query.get(name) ?? undefined);
  /** @type {import('./live.js').Live<Shown>} */
  const live = useLive(`${id}?${query}`, async (signal) => {
    const list = call('GET', `${path}/deliveries`, { query: { status, cursor, limit: rows }, signal });
    const [{ endpoint }, deliveries] = await Promise.all([call('GET', path, { signal }), list]);
    return { endpoint, deliveries };
  });
  const test = useAct(async () => {
    await call('POST', `${path}/test`, { body: {} });
    live.refresh();
  });
  const { endpoint, deliveries } = live.data ?? {};
  const [redelivered, setRedelivered] = useState(/** @type {Delivery | undefined} */ (undefined));
  const close = () => setDialog('');
  return html`<${Heading} title=${`Endpoint ${id}`}><${Freshness} live=${live} /><//>
    <p><${Link} href=${`${root}/endpoints`}>All endpoints<//></p>
    <${Trouble} live=${live} />
    ${
      endpoint === undefined || deliveries === undefined
        ? null
        : html`<${Facts} facts=${describe(endpoint)} />
            <p class="buttons">
              ${
                endpoint.disabled
                  ? null
                  : html`<button type="button" aria-disabled=${String(test.busy)} onClick=${test.run}>
                        Send a test
                      </button>
                      <button type="button" onClick=${() => setDialog('recover')}>Recover</button>`
              }
              <button type="button" class=${endpoint.disabled ? '' : 'danger'} onClick=${() => setDialog('toggle')}>
                ${endpoint.disabled ? 'Enable' : 'Disable'}
              </button>
            </p>
            <${Failure} failure=${test.failure} />
            <${Command} words=${endpoint.disabled ? undefined : ['endpoints', 'test', id]} what="send a test" />
            <${Command} words=${['endpoints', 'show', id]} what="show it" />
            <h2>Deliveries</h2>
            <${Filters} fields=${fields} query=${query} />
            <${List}
              title="Deliveries"
              columns=${columnsOf(endpoint, setRedelivered)}
              items=${deliveries.items}
              id=${idOf}
              empty="No deliveries match. Send a test to create one."
            />
            <${Pages} query=${query} name="cursor" next=${deliveries.next} />
            <${Command}
              words=${['endpoints', 'deliveries', id, ...toOptions({ status, cursor, limit: String(rows) })]}
              what="list the deliveries"
            />
            ${dialog === 'toggle' ? html`<${ToggleDialog} path=${path} endpoint=${endpoint} onClose=${close} onDone=${live.refresh} />` : null}`
    }
    ${dialog === 'recover' ? html`<${Recover} path=${path} id=${id} onClose=${close} onDone=${live.refresh} />` : null}
    ${redelivered === undefined ? null : html`<${Redeliver} path=${path} id=${id} delivery=${redelivered} onClose=${() => setRedelivered(undefined)} onDone=${live.refresh} />`}`;
}

/** @param {Endpoint} endpoint @returns {readonly (readonly [string, import('./ui.js').Children])[]} */
function describe(endpoint) {
  return [
    ['State', html`<${EndpointState} endpoint=${endpoint} />`],
    ['Address', endpoint.url],
    ['Description', endpoint.description],
    ['Account', String(endpoint.account_id)],
    ['Types', endpoint.types?.join(', ') ?? 'all'],
    ['Failing since', html`<${Time} at=${endpoint.failing_since} none="–" />`],
    ['Disabled', html`<${Time} at=${endpoint.disabled_at} none="–" />`],
    ['Old secret until', html`<${Time} at=${endpoint.rotating_until} none="–" />`],
    ['Created', html`<${Time} at=${endpoint.created_at} />`],
  ];
}

/**
 * @param {Endpoint} endpoint @param {(delivery: Delivery) => void} redeliver
 * @returns {readonly import('./parts.js').Column<Delivery>[]}
 */
function columnsOf(endpoint, redeliver) {
  return [
    { title: 'Event', show: ({ event_id: event }) => html`<code>${event}</code>` },
    { title: 'Status', show: ({ status }) => html`<span class=${`mark ${marks[status] ?? ''}`}>${status}</span>` },
    { title: 'Attempts', wide: true, show: ({ attempts }) => html`<${Attempts} attempts=${attempts} />` },
    { title: 'Next attempt', show: ({ next_attempt_at: at }) => html`<${Time} at=${at} none="none" />` },
    {
      title: 'Actions',
      show: (delivery) =>
        endpoint.disabled
          ? null
          : html`<button
              type="button"
              class="quiet"
              aria-label=${`Redeliver ${delivery.event_id}`}
              onClick=${() => redeliver(delivery)}
            >
              Redeliver
            </button>`,
    },
  ];
}

/** @type {Readonly<Record<string, string>>} */
const marks = { delivered: 'good', failed: 'bad' };

/** @param {{ attempts: Delivery['attempts'] }} properties */
function Attempts({ attempts }) {
  if (attempts.length === 0) return 'No attempts yet';
  return html`<ol>
    ${attempts.map(
      ({ at, status_code: status, error, duration_ms: ms }) =>
        html`<li><${Time} at=${at} />: ${status ?? error}${error === 'redirect' ? ' (redirect)' : ''}, ${ms} ms</li>`,
    )}
  </ol>`;
}

/** @param {{ path: string, id: string, delivery: Delivery, onClose: () => void, onDone: () => void }} properties */
function Redeliver({ path, id, delivery, onClose, onDone }) {
  const { busy, failure, run } = useAct(async () => {
    await call('POST', `${path}/deliveries/${delivery.id}/redeliver`, { body: {} });
    onDone();
    onClose();
  });
  return html`<${Dialog} title="Redeliver this event?" onClose=${onClose}>
    <p>The event <code>${delivery.event_id}</code> is sent again, even if it was delivered.</p>
    <${Failure} failure=${failure} />
    <p class="buttons">
      <button type="button" aria-disabled=${String(busy)} onClick=${run}>Redeliver</button>
      <button type="button" class="quiet" onClick=${onClose}>Cancel</button>
    </p>
    <${Command} words=${['endpoints', 'redeliver', id, delivery.id]} />
  <//>`;
}

/** @param {{ path: string, id: string, onClose: () => void, onDone: () => void }} properties */
function Recover({ path, id, onClose, onDone }) {
  const [since, setSince] = useState('');
  const form = /** @type {{ current: HTMLFormElement | null }} */ (useRef(null));
  const { busy, failure, run } = useAct(async () => {
    await call('POST', `${path}/recover`, { body: { since: fromField(readForm(form.current).text('since')) } });
    onDone();
    onClose();
  });
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    void run();
  };
  return html`<${Dialog} title="Recover" onClose=${onClose}>
    <form ref=${form} onSubmit=${submit} onInput=${() => setSince(fromField(readForm(form.current).text('since')))}>
      <p>Undelivered events since this time are sent.</p>
      <p class="field">
        <label for="since">Since</label><input id="since" name="since" type="datetime-local" step="1" required />
      </p>
      <${Failure} failure=${failure} />
      <p class="buttons">
        <button type="submit" aria-disabled=${String(busy)}>Recover</button>
        <button type="button" class="quiet" onClick=${onClose}>Cancel</button>
      </p>
    </form>
    <${Command} words=${since === '' ? undefined : ['endpoints', 'recover', id, '--since', since]} />
  <//>`;
}

/** @param {{ path: string, endpoint: Endpoint, onClose: () => void, onDone: () => void }} properties */
function ToggleDialog({ path, endpoint: { id, disabled }, onClose, onDone }) {
  const { busy, failure, run } = useAct(async () => {
    await call('POST', `${path}/update`, { body: { disabled: !disabled } });
    onDone();
    onClose();
  });
  const text = disabled
    ? 'New events are sent. To send earlier events, use Recover.'
    : 'No more events are sent, and pending deliveries are dropped.';
  return html`<${Dialog} title=${disabled ? 'Enable this endpoint?' : 'Disable this endpoint?'} onClose=${onClose}>
    <p>${text}</p>
    <${Failure} failure=${failure} />
    <p class="buttons">
      <button type="button" class=${disabled ? '' : 'danger'} aria-disabled=${String(busy)} onClick=${run}>
        ${disabled ? 'Enable' : 'Disable'}
      </button>
      <button type="button" class="quiet" onClick=${onClose}>Cancel</button>
    </p>
    <${Command}
      words=${disabled ? ['endpoints', 'enable', String(id)] : ['endpoints', 'disable', String(id), '--yes']}
    />
  <//>`;
}

/** @param {Delivery} delivery */
function idOf({ id }) {
  return id;
}
