/** Holons, found by name or class; one holon with its people, relationships and notes. */
import { Heading, Link, root } from './address.js';
import { call } from './calls.js';
import { Freshness, Trouble, useLive } from './live.js';
import { Command, Facts, Filters, List, Pages, toOptions } from './parts.js';
import { Channels, Count, idOf, membershipId, nextOf, Notes, rows, Words } from './people-pages.js';
import { Time } from './times.js';
import { html } from './ui.js';

/** @typedef {import('../../../clients/typescript/operations.ts').HolonListItem} Holon */
/** @typedef {import('../../../clients/typescript/operations.ts').MembershipWithPerson} Membership */
/** @typedef {import('../../../clients/typescript/operations.ts').ListHolonsResult} HolonList */

/** @type {readonly import('./parts.js').Field[]} */
const fields = [
  { name: 'q', label: 'Name or description' },
  { name: 'class', label: 'Class', hint: 'event' },
  { name: 'parent', label: 'Below holon', type: 'number' },
];

/** @type {readonly import('./parts.js').Column<Holon>[]} */
const columns = [
  {
    title: 'Name',
    wide: true,
    show: ({ id, name }) => html`<${Link} href=${`${root}/holons/${id}`}>${name}<//> <small>${id}</small>`,
  },
  { title: 'Class', show: (holon) => holon.type },
  { title: 'Slug', show: (holon) => holon.slug },
  { title: 'Changed', show: (holon) => html`<${Time} at=${holon.updated_at} />` },
];

/** @param {import('./pages.js').PageProperties} properties */
export function HolonsPage({ query }) {
  const offset = Number(query.get('offset') ?? 0);
  const [q, ofClass, parent] = fields.map(({ name }) => query.get(name) ?? undefined);
  /** @type {import('./live.js').Live<HolonList>} */
  const live = useLive(query.toString(), (signal) =>
    // Without a class the API requires a search text; an empty search text matches every name.
    call('GET', '/v1/holons', {
      query: { q: q ?? (ofClass === undefined ? '' : undefined), class: ofClass, parent, limit: rows, offset },
      signal,
    }),
  );
  return html`<${Heading} title="Holons"><${Freshness} live=${live} /><//>
    <${Filters} fields=${fields} query=${query} />
    <${Trouble} live=${live} />
    ${
      live.data === undefined
        ? null
        : html`<${Count} list=${live.data} noun="holon" nouns="holons" />
            <${List}
              title="Holons"
              columns=${columns}
              items=${live.data.items}
              id=${idOf}
              empty="No holons match these filters."
            />
            <${Pages} query=${query} name="offset" next=${live.data.has_more ? String(offset + rows) : null} />`
    }
    <${Command}
      words=${['holons', 'list', ...toOptions({ q, class: ofClass, parent, limit: String(rows), cursor: String(offset) })]}
    />`;
}

/** @param {import('./pages.js').PageProperties} properties */
export function HolonPage({ names: [id = ''], query }) {
  const path = `/v1/holons/${encodeURIComponent(id)}`;
  const offset = Number(query.get('offset') ?? 0);
  /** @type {import('./live.js').Live<any[]>} */
  const live = useLive(`${path} ${offset}`, (signal) =>
    Promise.all(
      ['', '/memberships', '/relationships', '/notes'].map((part) =>
        call('GET', `${path}${part}`, { ...(part === '' ? {} : { query: { limit: rows, offset } }), signal }),
      ),
    ),
  );
  const [holon, memberships, relationships, notes] = live.data ?? [];
  return html`<${Heading} title=${holon?.name ?? `Holon ${id}`}><${Freshness} live=${live} /><//>
    <p><${Link} href=${`${root}/holons`}>All holons<//></p>
    <${Trouble} live=${live} />
    ${
      holon === undefined
        ? null
        : html`<${Facts} facts=${describe(holon)} />
            <h2>People (${memberships.count})</h2>
            <${List}
              title="People"
              columns=${membershipColumns}
              items=${memberships.items}
              id=${membershipId}
              empty="No members."
            />
            <h2>Relationships (${relationships.count})</h2>
            <${List}
              title="Relationships"
              columns=${relationshipColumnsOf(holon.id)}
              items=${relationships.items}
              id=${relationshipId}
              empty="No relationships."
            />
            <h2>Notes (${notes.count})</h2>
            <${Notes} notes=${notes.items} />
            <${Pages} query=${query} name="offset" next=${nextOf(offset, [memberships, relationships, notes])} />
            <${Command}
              words=${['holons', 'show', id, ...toOptions({ limit: String(rows), cursor: String(offset) })]}
              what="show people and relationships"
            />
            <${Command}
              words=${offset === 0 ? ['notes', 'list', '--holon', id, '--limit', String(rows)] : undefined}
              what="list the notes"
            />`
    }`;
}

/** @param {import('../../../clients/typescript/operations.ts').HolonPublic} holon */
function describe(holon) {
  const { id, type, slug, parent_id: parent, links, description } = holon;
  return [
    ['Id', id],
    ['Class', type],
    ['Slug', slug],
    ['Parent', parent === null ? '–' : html`<${Link} href=${`${root}/holons/${parent}`}>holon ${parent}<//>`],
    ['Links', html`<${Channels} channels=${links} />`],
    ['Description', html`<${Words} rich=${description} />`],
  ];
}

/** @type {readonly import('./parts.js').Column<Membership>[]} */
const membershipColumns = [
  {
    title: 'Person',
    wide: true,
    show: ({ person }) => html`<${Link} href=${`${root}/people/${person.id}`}>${person.name}<//>`,
  },
  { title: 'Journey', show: ({ journey_name: journey }) => journey ?? '–' },
  { title: 'Step', show: ({ step_title: step }) => step ?? '–' },
  { title: 'Follow up', show: ({ follow_up_after: day }) => day ?? '–' },
];

/** @typedef {import('../../../clients/typescript/operations.ts').Relationship} Relationship */

/** @param {number} own @returns {readonly import('./parts.js').Column<Relationship>[]} */
const relationshipColumnsOf = (own) => [
  {
    title: 'With',
    wide: true,
    show: ({ from_holon: from, to_holon: to }) => {
      const other = from.id === own ? to : from;
      return html`<${Link} href=${`${root}/holons/${other.id}`}>${other.name}<//>`;
    },
  },
  { title: 'Journey', show: ({ journey_name: journey }) => journey ?? '–' },
  { title: 'Step', show: ({ step_title: step }) => step ?? '–' },
  { title: 'Follow up', show: ({ follow_up_after: day }) => day ?? '–' },
];

/** @param {Relationship} relationship */
function relationshipId({ relationship_id: id }) {
  return id;
}
