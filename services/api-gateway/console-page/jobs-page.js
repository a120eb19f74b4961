/** Jobs of all services, and bulk actions on all matches (P2, P3). */
import { ActOnAll } from './act-on-all.js';
import { Heading, Link, root, withQuery } from './address.js';
import { call } from './calls.js';
import { Freshness, Missing, Trouble, useLive } from './live.js';
import { Command, Filters, List, Pages, toOptions } from './parts.js';
import { Time } from './times.js';
import { html, useState } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').ListJobsResult} JobList */
/** @typedef {JobList['items'][number]} Job */
/** @typedef {Readonly<Record<string, string | undefined>>} Filter */

const rows = 50;
const services = ['agents', 'conversations', 'directory', 'events', 'media', 'transcripts'];
const states = ['queued', 'running', 'succeeded', 'dead', 'cancelled'];
/** Maximum length of the error text in a filter. */
const maxErrorLength = 200;

/** @type {readonly import('./parts.js').Field[]} */
const fields = [
  { name: 'service', label: 'Service', options: services.map((name) => [name, name]) },
  { name: 'state', label: 'State', options: states.map((name) => [name, name]) },
  { name: 'type', label: 'Type', hint: 'media.…' },
  { name: 'error', label: 'Error contains' },
  { name: 'conversation_id', label: 'Conversation', type: 'number' },
  { name: 'key', label: 'Key' },
  { name: 'request_id', label: 'Request id' },
  { name: 'created_after', label: 'Created after', type: 'time' },
  { name: 'created_before', label: 'Created before', type: 'time' },
];

/** @param {URLSearchParams} query @returns {readonly import('./parts.js').Column<Job>[]} */
const columnsFor = (query) => [
  { title: 'Job', show: (job) => html`<${Link} href=${pathOf(job)}>${job.type}<//><small>${job.id}</small>` },
  { title: 'State', show: (job) => html`<${JobState} job=${job} />` },
  { title: 'Subject', show: (job) => html`<${About} job=${job} />` },
  { title: 'Created', show: (job) => html`<${Time} at=${job.created_at} />` },
  { title: 'Attempts', show: (job) => job.attempts },
  {
    title: 'Error',
    wide: true,
    show: ({ error }) =>
      error === null
        ? html`<span class="faint">–</span>`
        : html`${error}
            <${Link} class="narrow" href=${withQuery(query, { error: error.slice(0, maxErrorLength) })}
              >Only this error<//
            >`,
  },
];

/** @param {import('./pages.js').PageProperties} properties */
export function JobsPage({ query }) {
  const [verb, setVerb] = useState(/** @type {'' | keyof typeof acts} */ (''));
  const filter = Object.fromEntries(fields.map(({ name }) => [name, query.get(name) ?? undefined]));
  const cursor = query.get('cursor') ?? undefined;
  /** @type {import('./live.js').Live<JobList>} */
  const live = useLive(query.toString(), (signal) =>
    call('GET', '/ops/jobs', { query: { ...filter, cursor, limit: rows }, signal }),
  );
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return html`<${Heading} title="Jobs"><${Freshness} live=${live} /><//>
    <${Filters} fields=${fields} query=${query} />
    <p class="buttons">
      ${
        isFiltered
          ? Object.keys(acts).map(
              (name) =>
                html`<button
                  type="button"
                  class=${name === 'redrive' ? '' : 'quiet'}
                  onClick=${() => setVerb(/** @type {any} */ (name))}
                >
                  ${acts[/** @type {keyof typeof acts} */ (name)].verb} all that match…
                </button>`,
            )
          : html`<span class="faint">Set a filter to change all matching jobs.</span>`
      }
    </p>
    <${Trouble} live=${live} />
    <${Missing} names=${live.data?.missing} />
    ${
      live.data === undefined
        ? null
        : html`<${List}
              title="Jobs"
              columns=${columnsFor(query)}
              items=${live.data.items}
              id=${idOf}
              empty="No jobs match these filters."
            />
            <${Pages} query=${query} name="cursor" next=${live.data.next} />
            <${Command}
              words=${['jobs', 'list', ...optionsOf(filter), ...toOptions({ state: filter['state'], limit: String(rows), cursor })]}
            />`
    }
    ${verb === '' ? null : html`<${ActOnAll} act=${toAct(verb, filter)} onClose=${() => setVerb('')} onDone=${live.refresh} />`}`;
}

/** Actions on jobs, used on this page and on the page of one job. */
export const acts = {
  redrive: {
    verb: 'Redrive',
    done: 'queued again',
    explanation: 'Dead jobs are queued again with a full number of attempts.',
  },
  cancel: {
    verb: 'Cancel',
    done: 'cancelled',
    explanation:
      'Queued and running jobs are cancelled; running attempts are aborted. Dead jobs are discarded only if the filter state is “dead”.',
  },
};

/**
 * @param {keyof typeof acts} name
 * @param {Filter} given
 * @returns {import('./act-on-all.js').Act}
 */
function toAct(name, given) {
  const { state: _state, ...rest } = given;
  const { error: _error, ...kind } = rest; // Progress is counted without the error filter, because the next attempt may fail with another error.
  return {
    ...acts[name],
    noun: 'job',
    path: `/ops/jobs/${name}`,
    choice: { filter: toFilter(given) },
    command: toCommand(name, given['state'], optionsOf(rest)),
    ...(name === 'redrive' ? { readProgress: () => readProgress(toFilter(kind)) } : {}),
  };
}

/**
 * Returns the equivalent arguments of the admin CLI. Returns undefined for a state whose jobs the action cannot change,
 * because the command would change other jobs.
 * @param {keyof typeof acts} name
 * @param {string | undefined} state
 * @param {readonly string[]} options of the filter, without the state
 */
function toCommand(name, state, options) {
  if (state === 'dead' || (state === undefined && name === 'redrive'))
    return ['jobs', name === 'redrive' ? 'redrive' : 'discard', ...(options.length === 0 ? ['--all'] : options)];
  if (name === 'redrive' || state === 'succeeded' || state === 'cancelled') return undefined;
  return ['jobs', 'cancel', ...options, ...toOptions({ state })];
}

/**
 * Returns the counts of waiting and dead jobs, read with dry runs. @param {Readonly<Record<string, unknown>>} filter
 * @returns {Promise<import('./act-on-all.js').Progress>}
 */
async function readProgress(filter) {
  /** @param {string} act @param {string} state */
  const count = async (act, state) =>
    (await call('POST', `/ops/jobs/${act}`, { body: { filter: { ...filter, state }, dry_run: true } })).matched;
  const [queued, running, dead] = await Promise.all([
    count('cancel', 'queued'),
    count('cancel', 'running'),
    count('redrive', 'dead'),
  ]);
  return { waiting: queued + running, dead };
}

/** Returns the filter in the format of the bulk actions. @param {Filter} given @returns {Record<string, unknown>} */
function toFilter(given) {
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(named.map(([name, value]) => [name, name === 'conversation_id' ? Number(value) : value]));
}

/** Returns the filter as options of the admin CLI, without the state. @param {Filter} filter */
function optionsOf({
  service,
  type,
  key,
  error,
  conversation_id: conversation,
  request_id: request,
  created_after: since,
  created_before: until,
}) {
  return toOptions({
    service,
    type,
    key,
    error,
    conversation,
    request,
    since,
    until,
  });
}

/** @param {Pick<Job, 'service' | 'id'>} job */
function pathOf({ service, id }) {
  return `${root}/jobs/${service}/${id}`;
}

/** @param {Job} job */
function idOf({ service, id }) {
  return `${service}/${id}`;
}

/** @param {{ job: Pick<Job, 'state' | 'percent' | 'phase' | 'run_at'> }} properties */
export function JobState({ job: { state, percent, phase, run_at: runAt } }) {
  const kind = state === 'dead' ? 'bad' : state === 'succeeded' ? 'good' : '';
  return html`<span class=${`mark ${kind}`}>${state}</span>
    ${state === 'running' && percent > 0 ? html` <small>${percent} % ${phase ?? ''}</small>` : null}
    ${state === 'queued' && Date.parse(runAt) > Date.now() ? html` <small>runs <${Time} at=${runAt} /></small>` : null}`;
}

/** @param {{ job: Pick<Job, 'key' | 'conversation_id' | 'service'> }} properties */
export function About({ job: { key, conversation_id: conversation } }) {
  if (conversation === null) return key === null ? html`<span class="faint">–</span>` : html`<code>${key}</code>`;
  return html`<${Link} href=${`${root}/conversations/${conversation}`}>conversation ${conversation}<//
    >${key === null ? null : html` <small>${key}</small>`}`;
}
