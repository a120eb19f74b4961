/** Page with the state of the platform: waiting and failed jobs, and which services respond (P1). */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { toFigure } from './language.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, List } from './parts.js';
import { Plot } from './plot.js';
import { keepSample, readSamples } from './samples.js';
import { Time, toDuration } from './times.js';
import { html } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').GetOverviewResult} Overview */
/** @typedef {Overview['jobs'][number]} JobCount */
/** @typedef {{ service: string, type: string, counts: Partial<Record<JobCount['state'], JobCount>> }} Queue */

export function OverviewPage() {
  /** @type {import('./live.js').Live<Overview>} */
  const live = useLive('overview', async (signal) => {
    const overview = await call('GET', '/ops/overview', { signal });
    keepSample(overview);
    return overview;
  });
  return html`<${Heading} title="Overview"><${Freshness} live=${live} /><//>
    <${Trouble} live=${live} />
    ${
      live.failure?.status === 403
        ? html`<p>
            <${Link} href=${`${root}/conversations`}>Conversations<//>, <${Link} href=${`${root}/people`}>people<//> and
            ${' '}<${Link} href=${`${root}/holons`}>holons<//>${' '}are available to every account.
          </p>`
        : null
    }
    ${live.data === undefined ? null : html`<${Figures} overview=${live.data} />`}
    <${Command} words=${['overview']} />`;
}

/** @param {{ overview: Overview }} properties */
function Figures({ overview }) {
  const queues = toQueues(overview.jobs);
  const { at, waiting, dead, done, died } = readSamples();
  return html`<${Summary} overview=${overview} />
    <div class="plots">
      <${Plot}
        title="Jobs"
        at=${at}
        lines=${[
          { label: 'waiting', values: waiting, colour: '--link' },
          { label: 'dead', values: dead, colour: '--alarm' },
        ]}
      />
      <${Plot}
        title="Jobs per minute"
        at=${at}
        lines=${[
          { label: 'done', values: done, colour: '--good' },
          { label: 'died', values: died, colour: '--alarm' },
        ]}
      />
    </div>
    <h2>Queues</h2>
    <${List} title="Queues" columns=${queueColumns} items=${queues} id=${typeOf} empty="No jobs." />
    <h2>Services</h2>
    <${List} title="Services" columns=${serviceColumns} items=${overview.services} id=${nameOf} empty="No services." />
    <h2>Dependencies</h2>
    <${List}
      title="Dependencies"
      columns=${dependencyColumns}
      items=${overview.dependencies}
      id=${nameOf}
      empty="No dependencies."
    />
    <h2>Webhooks</h2>
    <${List}
      title="Webhooks"
      columns=${webhookColumns}
      items=${overview.webhooks}
      id=${webhookId}
      empty="No webhooks in the last day."
    />
    <h2>Streams</h2>
    <${List} title="Streams" columns=${streamColumns} items=${overview.streams} id=${nameOf} empty="No streams." />`;
}

/** @param {{ overview: Overview }} properties */
function Summary({ overview: { version, services, dependencies, jobs, spool, logins } }) {
  /** @param {JobCount['state']} expected */
  const of = (expected) => jobs.filter(({ state }) => state === expected);
  /** @param {readonly JobCount[]} counts */
  const sum = (counts) => counts.reduce((total, { count }) => total + count, 0);
  const oldest = of('queued')
    .flatMap(({ oldest_at: at }) => at ?? [])
    .toSorted((left, right) => Date.parse(left) - Date.parse(right))[0];
  const unready = [...services, ...dependencies].filter(({ ready }) => !ready).length;
  return html`<ul class="cards">
    <${Card} name="Dead jobs" value=${sum(of('dead'))} bad=${sum(of('dead')) > 0} href=${`${root}/jobs?state=dead`} />
    <${Card} name="Queued jobs" value=${sum(of('queued'))} href=${`${root}/jobs?state=queued`}
      >${oldest === undefined ? null : html`oldest <${Time} at=${oldest} />`}<//
    >
    <${Card} name="Not ready" value=${unready} bad=${unready > 0}>services and dependencies<//>
    <${Card} name="Refused logins" value=${logins.failed_last_hour} href=${`${root}/audit?action=login`}
      >in the last hour<//
    >
    <${Card} name="Buffered webhooks" value=${spool.entries} bad=${spool.entries > 0}>${toSize(spool.bytes)}<//>
    <${Card} name="Release" value=${version} />
  </ul>`;
}

/**
 * @param {{ name: string, value: number | string, bad?: boolean, href?: string, children?: import('./ui.js').Children
 * }} properties
 */
function Card({ name, value, bad = false, href, children }) {
  const text = typeof value === 'number' ? toFigure(value) : value;
  return html`<li class=${bad ? 'bad' : ''}>
    ${href === undefined ? html`<span>${name}</span>` : html`<${Link} href=${href}>${name}<//>`} <b>${text}</b>
    <small>${children}</small>
  </li>`;
}

/** Returns one row for each job type. @param {readonly JobCount[]} jobs @returns {Queue[]} */
function toQueues(jobs) {
  const byType = Map.groupBy(jobs, ({ type }) => type);
  return [...byType].map(([type, counts]) => ({
    type,
    service: counts[0]?.service ?? '',
    counts: Object.fromEntries(counts.map((item) => [item.state, item])),
  }));
}

/** @param {JobCount['state']} state @returns {import('./parts.js').Column<Queue>} */
const countColumn = (state) => ({
  title: state,
  show: ({ type, counts }) => {
    const count = counts[state]?.count ?? 0;
    if (count === 0) return html`<span class="faint">0</span>`;
    return html`<${Link} href=${`${root}/jobs?state=${state}&type=${encodeURIComponent(type)}`}>${toFigure(count)}<//>`;
  },
});

/** @type {readonly import('./parts.js').Column<Queue>[]} */
const queueColumns = [
  { title: 'Type', wide: true, show: ({ type }) => type },
  countColumn('queued'),
  { title: 'Oldest queued', show: ({ counts }) => html`<${Time} at=${counts.queued?.oldest_at} none="–" />` },
  countColumn('running'),
  countColumn('dead'),
  countColumn('succeeded'),
  countColumn('cancelled'),
];

/** @type {readonly import('./parts.js').Column<Overview['services'][number]>[]} */
const serviceColumns = [
  { title: 'Service', show: ({ name }) => name },
  { title: 'State', show: ({ ready }) => html`<${Ready} ready=${ready} />` },
  { title: 'Release', show: ({ version }) => version ?? '–' },
  { title: 'Uptime', show: ({ uptime_seconds: up }) => (up === null ? '–' : toDuration(up * 1_000)) },
  { title: 'Missing', wide: true, show: ({ missing }) => missing.join(', ') || '–' },
];

/** @type {readonly import('./parts.js').Column<Overview['dependencies'][number]>[]} */
const dependencyColumns = [
  { title: 'Dependency', show: ({ name }) => name },
  { title: 'State', show: ({ ready }) => html`<${Ready} ready=${ready} />` },
  { title: 'Detail', wide: true, show: ({ detail }) => detail ?? '–' },
];

/** @type {readonly import('./parts.js').Column<Overview['webhooks'][number]>[]} */
const webhookColumns = [
  { title: 'Kind', show: ({ kind }) => kind },
  { title: 'Outcome', wide: true, show: ({ outcome }) => outcome },
  { title: 'Last hour', show: ({ last_hour: count }) => toFigure(count) },
  { title: 'Last day', show: ({ last_day: count }) => toFigure(count) },
];

/** @type {readonly import('./parts.js').Column<Overview['streams'][number]>[]} */
const streamColumns = [
  { title: 'Stream', show: ({ name }) => name },
  { title: 'Messages', show: ({ messages }) => toFigure(messages) },
  { title: 'Size', show: ({ bytes }) => toSize(bytes) },
  {
    title: 'Lag',
    wide: true,
    show: ({ consumers }) => {
      const lagging = consumers.filter(({ lag }) => lag > 0);
      return lagging.length === 0 ? '0' : lagging.map(({ name, lag }) => `${name} ${toFigure(lag)}`).join(', ');
    },
  },
];

/** @param {{ ready: boolean }} properties */
function Ready({ ready }) {
  return ready ? html`<span class="mark good">ready</span>` : html`<span class="mark bad">not ready</span>`;
}

/** @param {number} bytes */
function toSize(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** @param {{ name: string }} item */
function nameOf({ name }) {
  return name;
}
/** @param {Queue} queue */
function typeOf({ type }) {
  return type;
}
/** @param {Overview['webhooks'][number]} item */
function webhookId({ kind, outcome }) {
  return `${kind} ${outcome}`;
}
