/** People, found by name; one person with memberships and notes. */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { toFigure } from './language.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Facts, Filters, List, Pages, toOptions } from './parts.js';
import { toPlainText } from './plain-text.js';
import { Time } from './times.js';
import { html } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').PersonListItem} Person */
/** @typedef {import('../../../clients/typescript/operations.ts').MembershipWithHolon} Membership */
/** @typedef {import('../../../clients/typescript/operations.ts').NoteItem} Note */

export const rows = 50;
/** @type {readonly import('./parts.js').Field[]} */
const fields = [{ name: 'q', label: 'Name' }];

/** @type {readonly import('./parts.js').Column<Person>[]} */
const columns = [
  {
    title: 'Name',
    show: ({ id, name }) => html`<${Link} href=${`${root}/people/${id}`}>${name}<//> <small>${id}</small>`,
  },
  { title: 'Kind', show: (person) => person.actor_kind },
  { title: 'Contact', wide: true, show: ({ contact }) => html`<${Channels} channels=${contact} />` },
  { title: 'Changed', show: (person) => html`<${Time} at=${person.updated_at} />` },
];

/** @param {import('./pages.js').PageProperties} properties */
export function PeoplePage({ query }) {
  const offset = Number(query.get('offset') ?? 0);
  /** @type {import('./live.js').Live<import('../../../clients/typescript/operations.ts').ListPeopleResult>} */
  const live = useLive(query.toString(), (signal) =>
    // An empty search text matches every name.
    call('GET', '/v1/people', { query: { q: query.get('q') ?? '', limit: rows, offset }, signal }),
  );
  return html`<${Heading} title="People"><${Freshness} live=${live} /><//>
    <${Filters} fields=${fields} query=${query} />
    <${Trouble} live=${live} />
    ${
      live.data === undefined
        ? null
        : html`<${Count} list=${live.data} noun="person" nouns="people" />
            <${List}
              title="People"
              columns=${columns}
              items=${live.data.items}
              id=${idOf}
              empty="No people match this name."
            />
            <${Pages} query=${query} name="offset" next=${live.data.has_more ? String(offset + rows) : null} />`
    }
    <${Command}
      words=${['people', 'list', ...toOptions({ q: query.get('q'), limit: String(rows), cursor: String(offset) })]}
    />`;
}

/** @param {import('./pages.js').PageProperties} properties */
export function PersonPage({ names: [id = ''], query }) {
  const path = `/v1/people/${encodeURIComponent(id)}`;
  const offset = Number(query.get('offset') ?? 0);
  /**
   * @type {import('./live.js').Live<{ person: import('../../../clients/typescript/operations.ts').PersonPublic,
   * memberships: { count: number, items: Membership[] }, notes: { count: number, items: Note[] } }>}
   */
  const live = useLive(`${path} ${offset}`, async (signal) => {
    const [person, memberships, notes] = await Promise.all(
      ['', '/memberships', '/notes'].map((part) =>
        call('GET', `${path}${part}`, { ...(part === '' ? {} : { query: { limit: rows, offset } }), signal }),
      ),
    );
    return { person, memberships, notes };
  });
  const { data } = live;
  return html`<${Heading} title=${data === undefined ? `Person ${id}` : data.person.name}
      ><${Freshness} live=${live}
    /><//>
    <p><${Link} href=${`${root}/people`}>All people<//></p>
    <${Trouble} live=${live} />
    ${
      data === undefined
        ? null
        : html`<${Facts}
              facts=${[
                ['Id', data.person.id],
                ['Kind', data.person.actor_kind],
                ['Contact', html`<${Channels} channels=${data.person.contact} />`],
                ['Description', html`<${Words} rich=${data.person.description} />`],
              ]}
            />
            <h2>Memberships (${data.memberships.count})</h2>
            <${List}
              title="Memberships"
              columns=${membershipColumns}
              items=${data.memberships.items}
              id=${membershipId}
              empty="No memberships."
            />
            <h2>Notes (${data.notes.count})</h2>
            <${Notes} notes=${data.notes.items} />
            <${Pages} query=${query} name="offset" next=${nextOf(offset, [data.memberships, data.notes])} />
            <${Command}
              words=${['people', 'show', id, ...toOptions({ limit: String(rows), cursor: String(offset) })]}
              what="show the memberships"
            />
            <${Command}
              words=${offset === 0 ? ['notes', 'list', '--person', id, '--limit', String(rows)] : undefined}
              what="list the notes"
            />
            <${Command}
              words=${['people', 'export', id, '--out', `person-${id}.zip`]}
              what="export all personal data"
            />`
    }`;
}

/** @type {readonly import('./parts.js').Column<Membership>[]} */
const membershipColumns = [
  {
    title: 'Holon',
    wide: true,
    show: ({ holon }) =>
      html`<${Link} href=${`${root}/holons/${holon.id}`}>${holon.name}<//> <small>${holon.type}</small>`,
  },
  { title: 'Journey', show: ({ journey_name: journey }) => journey ?? '–' },
  { title: 'Step', show: ({ step_title: step }) => step ?? '–' },
  { title: 'Follow up', show: ({ follow_up_after: day }) => day ?? '–' },
];

/** @type {readonly import('./parts.js').Column<Note>[]} */
const noteColumns = [
  { title: 'Written', show: (note) => html`<${Time} at=${note.created_at} />` },
  { title: 'By', show: ({ author_person: author }) => author?.name ?? '–' },
  { title: 'Kind', show: (note) => note.note_type },
  { title: 'Text', wide: true, show: ({ body }) => html`<${Words} rich=${body} />` },
];

/** @param {{ notes: readonly Note[] }} properties */
export function Notes({ notes }) {
  return html`<${List} title="Notes" columns=${noteColumns} items=${notes} id=${idOf} empty="No notes." />`;
}

/** Shows rich text as plain text. @param {{ rich: string }} properties */
export function Words({ rich }) {
  const text = toPlainText(rich);
  return text === '' ? html`<span class="faint">–</span>` : html`<span class="words">${text}</span>`;
}

/**
 * Contact channels of a person or holon as plain text, not as links. @param {{ channels: Record<string, unknown> }}
 * properties
 */
export function Channels({ channels }) {
  const entries = Object.entries(channels);
  if (entries.length === 0) return html`<span class="faint">–</span>`;
  return html`<ul class="plain">
    ${entries.map(([name, value]) => html`<li><b>${name}</b> ${String(value)}</li>`)}
  </ul>`;
}

/**
 * Returns the offset of the next page of lists that share one pager; returns null when every list is at its end. @param
 * {number} offset
 * @param {readonly { count: number }[]} lists
 */
export function nextOf(offset, lists) {
  return lists.some(({ count }) => offset + rows < count) ? String(offset + rows) : null;
}

/** @param {{ list: { count: number }, noun: string, nouns: string }} properties */
export function Count({ list: { count }, noun, nouns }) {
  return html`<p class="faint">${toFigure(count)} ${count === 1 ? noun : nouns}</p>`;
}

/** @param {{ id: number }} item */
export function idOf({ id }) {
  return id;
}

/** @param {{ membership_id: number }} item */
export function membershipId({ membership_id: id }) {
  return id;
}
