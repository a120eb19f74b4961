/** One job: its payload, every attempt, and its actions (P2, P3). */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { About, acts, JobState } from './jobs-page.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Dialog, Facts, Failure, List, useAct } from './parts.js';
import { Time, toDuration } from './times.js';
import { html, useState } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').GetJobResult} Job */
/** @typedef {Job['attempts'][number]} Attempt */

/** @type {readonly import('./parts.js').Column<Attempt>[]} */
const columns = [
  { title: 'Started', show: (attempt) => html`<${Time} at=${attempt.started_at} />` },
  { title: 'Duration', show: ({ duration_ms: ms }) => (ms === null ? '–' : toDuration(ms)) },
  { title: 'Worker', show: ({ worker }) => worker ?? '–' },
  { title: 'Error', wide: true, show: ({ error }) => error ?? html`<span class="faint">none</span>` },
];

/** @param {import('./pages.js').PageProperties} properties */
export function JobPage({ names: [service = '', id = ''] }) {
  const [verb, setVerb] = useState(/** @type {'' | keyof typeof acts} */ (''));
  const path = `/ops/jobs/${encodeURIComponent(service)}/${encodeURIComponent(id)}`;
  /** @type {import('./live.js').Live<Job>} */
  const live = useLive(path, (signal) => call('GET', path, { signal }));
  const job = live.data;
  return html`<${Heading} title=${job === undefined ? `Job ${id}` : job.type}><${Freshness} live=${live} /><//>
    <p><${Link} href=${`${root}/jobs`}>All jobs<//></p>
    <${Trouble} live=${live} />
    ${
      job === undefined
        ? null
        : html`<${Facts} facts=${describe(job)} />
            <p class="buttons">
              ${['dead', 'cancelled'].includes(job.state) ? html`<button type="button" onClick=${() => setVerb('redrive')}>Redrive</button>` : null}
              ${
                ['queued', 'running', 'dead'].includes(job.state)
                  ? html`<button type="button" class="danger" onClick=${() => setVerb('cancel')}>Cancel</button>`
                  : null
              }
            </p>
            <h2>Attempts</h2>
            <${List}
              title="Attempts"
              columns=${columns}
              items=${job.attempts.toReversed()}
              id=${idOf}
              empty="No attempts yet."
            />
            <h2>Payload</h2>
            <${Json} title="Payload" value=${job.payload} />
            ${
              job.result === null
                ? null
                : html`<h2>Result</h2>
                    <${Json} title="Result" value=${job.result} />`
            }`
    }
    <${Command} words=${['jobs', 'show', id]} />
    ${verb === '' ? null : html`<${ConfirmDialog} verb=${verb} service=${service} id=${id} state=${job?.state} onClose=${() => setVerb('')} onDone=${live.refresh} />`}`;
}

/** @param {Job} job @returns {readonly (readonly [string, import('./ui.js').Children])[]} */
function describe(job) {
  return [
    ['State', html`<${JobState} job=${job} />`],
    ['Error', job.error ?? '–'],
    ['Subject', html`<${About} job=${job} />`],
    ['Created', html`<${Time} at=${job.created_at} />`],
    ['Started', html`<${Time} at=${job.started_at} />`],
    ['Finished', html`<${Time} at=${job.finished_at} none="not yet" />`],
    ['Service', job.service],
    ['Id', html`<code>${job.id}</code>`],
    ['Worker', job.worker ?? '–'],
    ['Request', html`<code>${job.request_id ?? '–'}</code>`],
  ];
}

/** @param {{ title: string, value: unknown }} properties */
export function Json({ title, value }) {
  return html`<pre class="json" tabindex="0" aria-label=${title}><code>${JSON.stringify(value, null, 2)}</code></pre>`;
}

/**
 * @param {{ verb: keyof typeof acts, service: string, id: string, state: Job['state'], onClose: () => void, onDone: ()
 * => void }} properties
 */
function ConfirmDialog({ verb, service, id, state, onClose, onDone }) {
  const { verb: word, explanation } = acts[verb];
  const { busy, failure, run } = useAct(async () => {
    await call('POST', `/ops/jobs/${verb}`, { body: { ids: [{ service, id }] } });
    onDone();
    onClose();
  });
  return html`<${Dialog} title=${`${word} this job?`} onClose=${onClose}>
    <p>${explanation}</p>
    <${Failure} failure=${failure} />
    <p class="buttons">
      <button type="button" aria-disabled=${String(busy)} onClick=${run}>${word}</button>
      <button type="button" class="quiet" onClick=${onClose}>Close</button>
    </p>
    <${Command} words=${['jobs', verb === 'cancel' && state === 'dead' ? 'discard' : verb, id]} />
  <//>`;
}

/** @param {Attempt} attempt */
function idOf({ started_at: at, worker }) {
  return `${at} ${worker}`;
}
