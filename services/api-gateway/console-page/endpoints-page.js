/** Webhook endpoints: where events are sent (V5). */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Filters, List, Pages, toOptions } from './parts.js';
import { Time } from './times.js';
import { html } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').WebhookEndpoint} Endpoint */

const rows = 50;

/** @type {readonly import('./parts.js').Field[]} */
const fields = [{ name: 'account_id', label: 'Account id', type: 'number' }];

/** @type {readonly import('./parts.js').Column<Endpoint>[]} */
const columns = [
  { title: 'Address', wide: true, show: ({ id, url }) => html`<${Link} href=${`${root}/endpoints/${id}`}>${url}<//>` },
  { title: 'State', show: (endpoint) => html`<${EndpointState} endpoint=${endpoint} />` },
  { title: 'Account', show: ({ account_id: account }) => account },
  { title: 'Types', show: ({ types }) => types?.join(', ') ?? 'all' },
  { title: 'Description', show: ({ description }) => description },
  { title: 'Created', show: ({ created_at: at }) => html`<${Time} at=${at} />` },
];

/** @param {import('./pages.js').PageProperties} properties */
export function EndpointsPage({ query }) {
  const offset = Number(query.get('offset') ?? 0);
  const account = query.get('account_id') ?? undefined;
  /** @type {import('./live.js').Live<{ items: Endpoint[] }>} */
  const live = useLive(query.toString(), (signal) =>
    call('GET', '/v1/webhook-endpoints', { query: { account_id: account, limit: rows, offset }, signal }),
  );
  const { data } = live;
  return html`<${Heading} title="Endpoints"><${Freshness} live=${live} /><//>
    <${Filters} fields=${fields} query=${query} />
    <${Trouble} live=${live} />
    ${
      data === undefined
        ? null
        : html`<${List}
              title="Webhook endpoints"
              columns=${columns}
              items=${data.items}
              id=${idOf}
              empty="No webhook endpoints. Create one with the API or the admin CLI."
            />
            <${Pages} query=${query} name="offset" next=${data.items.length === rows ? String(offset + rows) : null} />
            <${Command}
              words=${['endpoints', 'list', ...toOptions({ account, limit: String(rows), cursor: String(offset) })]}
            />`
    }`;
}

/** @param {{ endpoint: Endpoint }} properties */
export function EndpointState({ endpoint: { disabled, disabled_reason: reason, failing_since: failing, recovering } }) {
  if (disabled) return html`<span class="mark">disabled (${reason})</span>`;
  if (failing !== null) return html`<span class="mark bad">failing</span>`;
  return html`<span class="mark good">${recovering ? 'recovering' : 'in use'}</span>`;
}

/** @param {Endpoint} endpoint */
function idOf({ id }) {
  return id;
}
