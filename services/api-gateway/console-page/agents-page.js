/** Agents, with the number of visitors' sentences that wait for a decision (D70). */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, List, Pages, toOptions } from './parts.js';
import { html } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').ListAgentsResult} AgentList */
/** @typedef {AgentList['items'][number]} Agent */

const rows = 50;

/** @type {readonly import('./parts.js').Column<Agent>[]} */
const columns = [
  {
    title: 'Agent',
    wide: true,
    show: ({ slug, name }) =>
      html`<${Link} href=${`${root}/agents/${encodeURIComponent(slug)}`}>${name}<//> <small>${slug}</small>`,
  },
  {
    title: 'Pending review',
    show: ({ waiting }) => html`<span class=${waiting > 0 ? 'mark bad' : ''}>${waiting}</span>`,
  },
  { title: 'Approved', show: ({ approved }) => approved },
];

/** @param {import('./pages.js').PageProperties} properties */
export function AgentsPage({ query }) {
  const cursor = query.get('cursor') ?? undefined;
  /** @type {import('./live.js').Live<AgentList>} */
  const live = useLive(query.toString(), (signal) =>
    call('GET', '/ops/agents', { query: { cursor, limit: rows }, signal }),
  );
  return html`<${Heading} title="Agents"><${Freshness} live=${live} /><//>
    <${Trouble} live=${live} />
    ${
      live.data === undefined
        ? null
        : html`<${List}
              title="Agents"
              columns=${columns}
              items=${live.data.items}
              id=${idOf}
              empty="No agents yet. Create an agent with the admin CLI."
            />
            <${Pages} query=${query} name="cursor" next=${live.data.next} />
            <${Command} words=${['agents', 'list', ...toOptions({ limit: String(rows), cursor })]} />`
    }`;
}

/** @param {Agent} agent */
function idOf({ slug }) {
  return slug;
}
