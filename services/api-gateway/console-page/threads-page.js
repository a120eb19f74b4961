/** Chats with agents: waiting visitors, and threads that an operator has taken over (H5). */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Filters, List, Pages, toOptions } from './parts.js';
import { Time } from './times.js';
import { html } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').ListThreadsResult} ThreadList */
/** @typedef {ThreadList['items'][number]} Thread */

const rows = 50;
/** @type {readonly import('./parts.js').Field[]} */
const fields = [
  { name: 'agent', label: 'Agent (slug)' },
  { name: 'channel', label: 'Channel', options: ['web', 'telegram'].map((name) => [name, name]) },
  {
    name: 'taken',
    label: 'Answered by',
    options: [
      ['true', 'a person'],
      ['false', 'the agent'],
    ],
  },
];

/** @type {readonly import('./parts.js').Column<Thread>[]} */
const columns = [
  { title: 'Thread', show: ({ id }) => html`<${Link} href=${`${root}/threads/${id}`}>thread ${id}<//>` },
  { title: 'Agent', show: ({ agent, channel }) => html`${agent}<small>${channel}</small>` },
  { title: 'Turns', show: ({ turns }) => turns },
  { title: 'Last message', show: ({ updated_at: at }) => html`<${Time} at=${at} />` },
  {
    title: 'Waiting',
    show: ({ waiting }) =>
      waiting ? html`<span class="mark bad">waiting for a reply</span>` : html`<span class="faint">no</span>`,
  },
  { title: 'Answered by', show: (thread) => html`<${Holder} thread=${thread} />` },
];

/** @param {import('./pages.js').PageProperties} properties */
export function ThreadsPage({ query }) {
  const cursor = query.get('cursor') ?? undefined;
  const filter = Object.fromEntries(fields.map(({ name }) => [name, query.get(name) ?? undefined]));
  /** @type {import('./live.js').Live<ThreadList>} */
  const live = useLive(query.toString(), (signal) =>
    call('GET', '/ops/threads', { query: { ...filter, cursor, limit: rows }, signal }),
  );
  const { taken, ...named } = filter;
  const flag = taken === undefined ? [] : [taken === 'true' ? '--taken' : '--no-taken'];
  return html`<${Heading} title="Threads"><${Freshness} live=${live} /><//>
    <${Filters} fields=${fields} query=${query} />
    <${Trouble} live=${live} />
    ${
      live.data === undefined
        ? null
        : html`<${List}
              title="Chats with agents"
              columns=${columns}
              items=${live.data.items}
              id=${idOf}
              empty="No chats match these filters."
            />
            <${Pages} query=${query} name="cursor" next=${live.data.next} />
            <${Command}
              words=${['threads', 'list', ...toOptions({ ...named, limit: String(rows), cursor }), ...flag]}
            />`
    }`;
}

/** @param {{ thread: Pick<Thread, 'taken_by'> }} properties */
export function Holder({ thread: { taken_by: holder } }) {
  return holder === null
    ? 'the agent'
    : html`${nameOf(holder.account)} <small>since <${Time} at=${holder.since} /></small>`;
}

/** @param {{ id: number, email: string | null } | null} account */
export function nameOf(account) {
  return account === null ? 'the admin CLI' : (account.email ?? `account ${account.id}`);
}

/** @param {Thread} thread */
function idOf({ id }) {
  return String(id);
}
