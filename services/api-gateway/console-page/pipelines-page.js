/** Conversations in pipeline steps, with the start of the step and what they wait for (P5). */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Dialog, Failure, Filters, List, Pages, toOptions, useAct } from './parts.js';
import { Time } from './times.js';
import { html, useState } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').ListPipelinesResult} PipelineList */
/** @typedef {PipelineList['items'][number]} Pipeline */

const rows = 50;
const states = ['queued', 'running', 'succeeded', 'dead', 'cancelled', 'none'];
/** @type {readonly import('./parts.js').Field[]} */
const fields = [
  { name: 'conversation_id', label: 'Conversation', type: 'number' },
  { name: 'journey', label: 'Journey (slug)' },
  { name: 'step', label: 'Step (slug)' },
  { name: 'state', label: 'Job state', options: states.map((name) => [name, name]) },
];

/** @param {(pipeline: Pipeline) => void} retry @returns {readonly import('./parts.js').Column<Pipeline>[]} */
const columnsFor = (retry) => [
  {
    title: 'Conversation',
    show: ({ conversation_id: id }) => html`<${Link} href=${`${root}/conversations/${id}`}>conversation ${id}<//>`,
  },
  { title: 'Step', show: ({ journey, step }) => html`${step}<small>${journey}</small>` },
  { title: 'Since', show: ({ since }) => html`<${Time} at=${since} />` },
  {
    title: 'State',
    show: ({ state }) =>
      html`<span class=${`mark ${state === 'dead' ? 'bad' : state === 'succeeded' ? 'good' : ''}`}>${state}</span>`,
  },
  { title: 'Waiting for', show: ({ waiting_for: what }) => what ?? html`<span class="faint">nothing</span>` },
  { title: 'Last error', wide: true, show: ({ error }) => error ?? html`<span class="faint">none</span>` },
  {
    title: 'Actions',
    show: (item) =>
      ['queued', 'dead', 'cancelled'].includes(item.state)
        ? html`<button
            type="button"
            class="quiet"
            aria-label=${`Retry conversation ${item.conversation_id}`}
            onClick=${() => retry(item)}
          >
            Retry
          </button>`
        : null,
  },
];

/** @param {import('./pages.js').PageProperties} properties */
export function PipelinesPage({ query }) {
  const [retried, setRetried] = useState(/** @type {Pipeline | undefined} */ (undefined));
  const filter = Object.fromEntries(fields.map(({ name }) => [name, query.get(name) ?? undefined]));
  const { conversation_id: conversation, ...others } = filter;
  const cursor = query.get('cursor') ?? undefined;
  /** @type {import('./live.js').Live<PipelineList>} */
  const live = useLive(query.toString(), (signal) =>
    call('GET', '/ops/pipelines', { query: { ...filter, cursor, limit: rows }, signal }),
  );
  return html`<${Heading} title="Pipelines"><${Freshness} live=${live} /><//>
    <${Filters} fields=${fields} query=${query} />
    <${Trouble} live=${live} />
    ${
      live.data === undefined
        ? null
        : html`<${List}
              title="Conversations in steps"
              columns=${columnsFor(setRetried)}
              items=${live.data.items}
              id=${idOf}
              empty=${live.data.next === null ? 'No conversations match these filters.' : 'No matches on this page. Continue with the next page.'}
            />
            <${Pages} query=${query} name="cursor" next=${live.data.next} />
            <${Command}
              words=${['pipelines', 'list', ...toOptions({ ...others, conversation, limit: String(rows), cursor })]}
            />`
    }
    ${retried === undefined ? null : html`<${Retry} pipeline=${retried} onClose=${() => setRetried(undefined)} onDone=${live.refresh} />`}`;
}

/** @param {{ pipeline: Pipeline, onClose: () => void, onDone: () => void }} properties */
function Retry({ pipeline: { conversation_id: id, step }, onClose, onDone }) {
  const { busy, failure, run } = useAct(async () => {
    await call('POST', `/ops/pipelines/${id}/retry`, { body: {} });
    onDone();
    onClose();
  });
  return html`<${Dialog} title=${`Retry conversation ${id}?`} onClose=${onClose}>
    <p>The job of the step “${step}” runs now. No second job is created.</p>
    <${Failure} failure=${failure} />
    <p class="buttons">
      <button type="button" aria-disabled=${String(busy)} onClick=${run}>Retry</button>
      <button type="button" class="quiet" onClick=${onClose}>Cancel</button>
    </p>
    <${Command} words=${['pipelines', 'retry', String(id)]} />
  <//>`;
}

/** @param {Pipeline} pipeline */
function idOf({ conversation_id: id, since }) {
  return `${id} ${since}`;
}
