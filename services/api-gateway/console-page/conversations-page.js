/** Conversations, found by their transcripts or their id (T2). */
import { go, Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { toFigure } from './language.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Filters, List, Pages, readForm, toOptions, toWords } from './parts.js';
import { Time, toClock } from './times.js';
import { html } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').SpokenMatches} Matches */
/** @typedef {Matches['items'][number]} Match */

const rows = 50;
/** @type {readonly import('./parts.js').Field[]} */
const fields = [
  { name: 'q', label: 'Search transcripts', hint: 'words, "a phrase", -without' },
  { name: 'person_id', label: 'Speaker (person id)', type: 'number' },
  { name: 'holon_slug', label: 'Event (slug)' },
  { name: 'journey', label: 'Journey (slug)' },
  { name: 'from', label: 'From', type: 'time' },
  { name: 'to', label: 'Before', type: 'time' },
];

/** @type {readonly import('./parts.js').Column<Match>[]} */
const columns = [
  {
    title: 'Conversation',
    show: ({ conversation: { id, title, start } }) =>
      html`<${Link} href=${`${root}/conversations/${id}`}>${title}<//>
        <small>${id} · <${Time} at=${start} none="no start" /></small>`,
  },
  {
    title: 'Speaker',
    show: ({ segment }) => html`<bdi>${segment.speaker.name}</bdi> <small>${toClock(segment.start_ms)}</small>`,
  },
  { title: 'Text', wide: true, show: (match) => html`<${Excerpt} match=${match} />` },
];

/** @param {import('./pages.js').PageProperties} properties */
export function ConversationsPage({ query }) {
  const filters = Object.fromEntries(
    [...fields.map(({ name }) => name), 'cursor'].map((name) => [name, query.get(name) ?? undefined]),
  );
  const isSearch = filters['q'] !== undefined;
  /** @type {import('./live.js').Live<Matches | undefined>} */
  const live = useLive(query.toString(), (signal) =>
    isSearch
      ? call('GET', '/coherence/transcripts/search', { query: { ...filters, limit: rows }, signal })
      : Promise.resolve(undefined),
  );
  /** @param {SubmitEvent} event */
  const open = (event) => {
    event.preventDefault();
    const id = readForm(/** @type {HTMLFormElement} */ (event.currentTarget)).text('id').trim();
    if (id !== '') go(`${root}/conversations/${encodeURIComponent(id)}`);
  };
  return html`<${Heading} title="Conversations">${isSearch ? html`<${Freshness} live=${live} />` : null}<//>
    <form class="filters" onSubmit=${open}>
      <p class="field">
        <label for="conversation-id">Conversation number</label>
        <input id="conversation-id" name="id" inputmode="numeric" pattern="[0-9]+" required />
      </p>
      <p class="buttons"><button type="submit">Open</button></p>
    </form>
    <${Filters} fields=${fields} query=${query} />
    <${Trouble} live=${live} />
    ${
      live.data === undefined
        ? null
        : html`<p class="faint">About ${toFigure(live.data.total_estimate)} matches</p>
            <${List}
              title="Search results"
              columns=${columns}
              items=${live.data.items}
              id=${idOf}
              empty="No matches in the conversations you can read."
            />
            <${Pages} query=${query} name="cursor" next=${live.data.next} />
            <${Command} words=${toCommand(filters)} />`
    }`;
}

/** @param {Readonly<Record<string, string | undefined>>} filters */
function toCommand({ q, person_id: person, holon_slug: holon, journey, from, to, cursor }) {
  return [
    'transcripts',
    'search',
    ...toOptions({ person, holon, journey, since: from, until: to, limit: String(rows), cursor }),
    ...toWords(q),
  ];
}

/** Shows an excerpt of the transcript with the search words highlighted. @param {{ match: Match }} properties */
function Excerpt({ match: { segment, highlights, before, after } }) {
  /** @type {import('./ui.js').Children[]} */
  const parts = [];
  let at = 0;
  for (const [from = 0, to = 0] of highlights) {
    parts.push(segment.text.slice(at, from), html`<mark>${segment.text.slice(from, to)}</mark>`);
    at = to;
  }
  parts.push(segment.text.slice(at));
  return html`<small class="words">${before}</small><span class="words">${parts}</span
    ><small class="words">${after}</small>`;
}

/** @param {Match} match */
function idOf({ conversation, segment }) {
  return `${conversation.id}/${segment.index}`;
}
