/** Inbound webhooks and their outcomes (P4). */
import { ActOnAll } from './act-on-all.js';
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { Freshness, Missing, Trouble, useLive } from './live.js';
import { Command, Filters, List, Pages, toOptions } from './parts.js';
import { Time } from './times.js';
import { html, useState } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').ListWebhooksResult} WebhookList */
/** @typedef {WebhookList['items'][number]} Webhook */
/** @typedef {Readonly<Record<string, string | undefined>>} Filter */

const rows = 50;

const outcomesOfBookings = [
  'pending',
  'applied',
  'stale',
  'waiting',
  'ignored',
  'ambiguous_booking',
  'journey_error',
  'person_not_found',
  'refused_data_too_large',
  'refused_times',
  'refused_too_many_attendees',
  'rejected_signature',
  'rejected_too_large',
  'rejected_unidentified',
  'rejected_unreadable',
  'rejected_unsigned',
  'rejected_unverified',
];
/** Possible outcomes of a webhook, by kind. @type {Readonly<Record<string, readonly string[]>>} */
export const outcomes = {
  booking: outcomesOfBookings,
  meeting: outcomesOfBookings,
  telegram: [
    'pending',
    'answering',
    'answered',
    'not_answered',
    'left_to_person',
    'send_unknown',
    'send_refused',
    'blocked',
    'expired',
    'failed',
    'echoed',
    'echo_failed',
    'ignored',
    'migrated',
    'agent_not_found',
    'rejected_secret',
    'rejected_too_large',
    'rejected_unreadable',
    'rejected_unsigned',
  ],
};

/** @type {readonly import('./parts.js').Field[]} */
const fields = [
  { name: 'kind', label: 'Kind', options: ['booking', 'meeting', 'telegram'].map((name) => [name, name]) },
  {
    name: 'outcome',
    label: 'Outcome',
    options: [...new Set(Object.values(outcomes).flat())].toSorted().map((name) => [name, name]),
  },
  { name: 'q', label: 'Text in the body', hint: '3 letters or more' },
  { name: 'person_id', label: 'Person (id)', type: 'number' },
  { name: 'from', label: 'From', type: 'time' },
  { name: 'to', label: 'Before', type: 'time' },
];

/** @type {readonly import('./parts.js').Column<Webhook>[]} */
const columns = [
  {
    title: 'Webhook',
    show: ({ id, kind, event }) =>
      html`<${Link} href=${`${root}/webhooks/${id}`}>${kind} ${id}<//><small>${event}</small>`,
  },
  { title: 'Received', show: (item) => html`<${Time} at=${item.received_at} />` },
  { title: 'Outcome', show: ({ outcome }) => html`<${Outcome} outcome=${outcome} />` },
  { title: 'Result', wide: true, show: ({ message }) => message ?? '–' },
  { title: 'Subject', show: (item) => html`<${WebhookSubject} webhook=${item} />` },
  { title: 'Deliveries', show: ({ deliveries }) => deliveries },
];

/** @param {import('./pages.js').PageProperties} properties */
export function WebhooksPage({ query }) {
  const [isReplaying, setReplaying] = useState(false);
  const filter = Object.fromEntries(fields.map(({ name }) => [name, query.get(name) ?? undefined]));
  const cursor = query.get('cursor') ?? undefined;
  /** @type {import('./live.js').Live<WebhookList>} */
  const live = useLive(query.toString(), (signal) =>
    call('GET', '/ops/webhooks', { query: { ...filter, cursor, limit: rows }, signal }),
  );
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return html`<${Heading} title="Webhooks"><${Freshness} live=${live} /><//>
    <${Filters} fields=${fields} query=${query} />
    <p class="buttons">
      ${
        isFiltered
          ? html`<button type="button" onClick=${() => setReplaying(true)}>Replay all that match…</button>`
          : html`<span class="faint">Set a filter to replay all matching webhooks.</span>`
      }
    </p>
    <${Trouble} live=${live} />
    <${Missing} names=${live.data?.missing} />
    ${
      live.data === undefined
        ? null
        : html`<${List}
              title="Webhooks"
              columns=${columns}
              items=${live.data.items}
              id=${idOf}
              empty="No webhooks match these filters."
            />
            <${Pages} query=${query} name="cursor" next=${live.data.next} />
            <${Command} words=${toCommand('list', filter, { limit: String(rows), cursor })} />`
    }
    ${isReplaying ? html`<${ActOnAll} act=${toAct(filter)} onClose=${() => setReplaying(false)} onDone=${live.refresh} />` : null}`;
}

export const replay = {
  verb: 'Replay',
  done: 'replayed',
  explanation:
    'Webhooks are processed again, oldest first. Applied webhooks do not change anything. Webhooks without a stored body are skipped.',
};

/** @param {Filter} given @returns {import('./act-on-all.js').Act} */
function toAct(given) {
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  const filter = Object.fromEntries(named.map(([name, value]) => [name, name === 'person_id' ? Number(value) : value]));
  return {
    ...replay,
    noun: 'webhook',
    path: '/ops/webhooks/replay',
    choice: { filter },
    command: toCommand('replay', given, { limit: maxReplayed }),
  };
}

/** Limit of a bulk replay in both services: each processes up to 10000 of its own webhooks per call. */
const maxReplayed = '20000';

/** The admin CLI's names of the providers. @type {Readonly<Record<string, string>>} */
const providers = { booking: 'cal.com', meeting: 'realtimekit', telegram: 'telegram' };

/**
 * Returns the equivalent CLI command. Returns undefined for filter combinations that cannot match a webhook, because
 * the admin CLI rejects them.
 * @param {string} verb
 * @param {Filter} filter
 * @param {Filter} more options
 */
function toCommand(verb, { kind, outcome, q, person_id: person, from, to }, more) {
  const kinds = kind === undefined ? (person === undefined ? Object.keys(outcomes) : ['booking']) : [kind];
  const isPossible = outcome === undefined || kinds.some((name) => outcomes[name]?.includes(outcome));
  if (!isPossible || (person !== undefined && kind === 'telegram')) return undefined;
  const provider = kind === undefined ? undefined : (providers[kind] ?? kind);
  return ['webhooks', verb, ...toOptions({ provider, outcome, text: q, person, since: from, until: to, ...more })];
}

/** @param {{ outcome: string }} properties */
export function Outcome({ outcome }) {
  const kind = /^(?:applied|answered|recorded)/.test(outcome)
    ? 'good'
    : /^(?:failed|rejected|refused|blocked|expired|not_answered|send_|echo_)|_(?:error|not_found)$/.test(outcome)
      ? 'bad'
      : '';
  return html`<span class=${`mark ${kind}`}>${outcome}</span>`;
}

/** @param {{ webhook: Pick<Webhook, 'person_id' | 'agent_slug' | 'conversation_id'> }} properties */
export function WebhookSubject({ webhook: { person_id: person, agent_slug: agent, conversation_id: conversation } }) {
  return html`${conversation === null ? null : html`<${Link} href=${`${root}/conversations/${conversation}`}>conversation ${conversation}<//> `}
  ${person === null ? null : html`<${Link} href=${`${root}/people/${person}`}>person ${person}<//> `}
  ${agent === null ? null : `agent ${agent}`}`;
}

/** @param {Webhook} webhook */
function idOf({ id }) {
  return id;
}
