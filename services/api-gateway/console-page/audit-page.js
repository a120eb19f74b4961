/** The audit log (A3). */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Filters, List, Pages, toOptions, Value } from './parts.js';
import { Time } from './times.js';
import { html } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').ListAuditResult} AuditList */
/** @typedef {AuditList['items'][number]} Entry */

/** @type {readonly import('./parts.js').Field[]} */
const fields = [
  { name: 'actor', label: 'Actor', hint: 'email or account id' },
  { name: 'action', label: 'Action', hint: 'login' },
  { name: 'target', label: 'Target', hint: 'account:7' },
  { name: 'from', label: 'From', type: 'time' },
  { name: 'to', label: 'Before', type: 'time' },
];
const rows = 50;

/** @type {readonly import('./parts.js').Column<Entry>[]} */
const columns = [
  { title: 'Time', show: ({ at }) => html`<${Time} at=${at} />` },
  { title: 'Actor', show: ({ actor }) => html`<${Actor} actor=${actor} />` },
  {
    title: 'Action',
    show: ({ action, outcome }) =>
      html`${action}${outcome === 'refused' ? html` <span class="mark bad">refused</span>` : null}`,
  },
  { title: 'Target', show: ({ target }) => (target === null ? '–' : `${target.type}:${target.id}`) },
  { title: 'Changes', wide: true, show: ({ changes }) => html`<${Changes} changes=${changes} />` },
  {
    title: 'IP address',
    show: ({ ip, request_id: request }) =>
      html`${ip ?? '–'}${request === null ? null : html` <small>${request}</small>`}`,
  },
];

/** @param {import('./pages.js').PageProperties} properties */
export function AuditPage({ query }) {
  const filters = Object.fromEntries(
    [...fields.map(({ name }) => name), 'cursor'].map((name) => [name, query.get(name) ?? undefined]),
  );
  /** @type {import('./live.js').Live<AuditList>} */
  const live = useLive(query.toString(), (signal) =>
    call('GET', '/ops/audit', { query: { ...filters, limit: rows }, signal }),
  );
  const { cursor, from: since, to: until, ...filter } = filters;
  return html`<${Heading} title="Audit"><${Freshness} live=${live} /><//>
    <${Filters} fields=${fields} query=${query} />
    <${Trouble} live=${live} />
    ${
      live.data === undefined
        ? null
        : html`<${List}
              title="Audit log"
              columns=${columns}
              items=${live.data.items}
              id=${idOf}
              empty="No entries match these filters."
            />
            <${Pages} query=${query} name="cursor" next=${live.data.next} />
            <${Command}
              words=${['audit', 'list', ...toOptions({ ...filter, since, until, cursor, limit: String(rows) })]}
            />`
    }`;
}

/** @param {{ actor: Entry['actor'] }} properties */
function Actor({ actor: { kind, email, account_id: account, key_id: key } }) {
  if (kind === 'cli') return 'admin CLI';
  if (kind === 'shared') return 'shared token';
  const name = email ?? (account === null ? 'unknown' : `account ${account}`);
  if (key === null) return name;
  return html`${name} by <${Link} href=${`${root}/keys/${encodeURIComponent(key)}`}>key ${key}<//>`;
}

/** @param {{ changes: Entry['changes'] }} properties */
function Changes({ changes }) {
  const entries = Object.entries(changes ?? {});
  if (entries.length === 0) return html`<span class="faint">–</span>`;
  return html`<ul class="plain">
    ${entries.map(([name, value]) => html`<li><${Value} name=${name} value=${value} /></li>`)}
  </ul>`;
}

/** @param {Entry} entry */
function idOf({ id }) {
  return id;
}
