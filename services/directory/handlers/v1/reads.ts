/** Search, people, holons, classes and journeys of the open API (rules/people#search; D42, D47, D47a, D48). One statement for each request, after a sample for search and for lists of a short text. */
import { badRequest } from '#libs/errors';
import { rawJson, type Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import { formatInstant, parseInstant } from '#libs/time';
import type { directory, HolonListQuery, PersonListQuery } from '../../contract.ts';
import { readViewer } from '../../viewer.ts';
import { getClass, listClasses } from '../../classes/statements.ts';
import { findHolons, getHolon, getHolonBySlug, listHolons, listHolonsOfClass } from '../../holons/statements/read.ts';
import { getJourney, listJourneys } from '../../journeys/statements.ts';
import { findPeople, getPerson, listPeople } from '../../repositories/v1/people.ts';
import type { RecordSort } from '../../record-orders.ts';
import { searchDirectory } from '../../search/statements/tiers.ts';
import { searchRare } from '../../search/statements/rare.ts';
import { sampleSearch, type SearchSampleRow } from '../../search/statements/sample.ts';
import { sampleText, type ShortTextRow } from '../../short-text.ts';
import { readBody, readBodyFor } from '../../read-body.ts';

type V1ReadHandlers = Pick<
  Handlers<typeof directory>,
  | 'searchDirectory'
  | 'listPeople'
  | 'getPerson'
  | 'listHolons'
  | 'getHolon'
  | 'getHolonBySlug'
  | 'listClasses'
  | 'getClass'
  | 'listJourneys'
  | 'getJourney'
>;

/** Defaults of the lists (rules/http#limits). */
const recordPage = 100;
const journeyPage = 50;
const resultsPerKind = 20;
/** Two characters may be typed as more: accents of their own, letters of two units. */
const maxShortLength = 4;

export function createV1ReadHandlers(db: Database): V1ReadHandlers {
  /** Whether a text that is too short for trigrams is in many rows; of a longer one the planner knows. */
  async function sampleShort(table: keyof typeof sampleText, text: string): Promise<ShortTextRow> {
    const [row] = text === '' || text.length > maxShortLength ? [] : await db.query<ShortTextRow>(sampleText[table], [text]);
    return row ?? { name: false, text: false, description: false };
  }

  return {
    searchDirectory: async ({ q, types, limit_per_type: limit = resultsPerKind }, { actor }) => {
      const kinds = readTypes(types);
      const [sample] = await db.query<SearchSampleRow>(sampleSearch, [q]);
      const params = [q, limit, kinds, ...readViewer(actor)];
      if (sample?.rare === true) return readBody(db, searchRare, ...params);
      return readBody(db, searchDirectory, ...params, ...(sample?.frequent ?? []));
    },
    listPeople: async ({ q, sort, limit = recordPage, offset = 0, ...after }) => {
      const order = readSort(sort);
      const isFrequent = q === '' || (await sampleShort('people', q)).name;
      return readBody(db, (isFrequent ? listPeople : findPeople)[order], q, ...readAfter(after), limit, offset);
    },
    getPerson: ({ person_id: id }) => readBody(db, getPerson, id),
    listHolons: async ({ q, class: slug, parent, sort, limit = recordPage, offset = 0, ...after }, { actor }) => {
      const order = readSort(sort);
      if (q === undefined && slug === undefined) throw badRequest('At least one of q and class must be given.');
      const params = [q ?? null, slug ?? null, parent ?? null, ...readAfter(after), limit, offset, ...readViewer(actor)];
      const { name, description } = await sampleShort('holons', q ?? '');
      const isRare = q !== undefined && q !== '' && !name && !description;
      const lists = isRare ? findHolons : slug === undefined ? listHolons : listHolonsOfClass;
      const [row] = await db.query<{ body: string }>(lists[order], params);
      if (row === undefined) throw badRequest(`There is no active class "${slug}".`);
      return rawJson(row.body);
    },
    getHolon: ({ holon_id: id }, { actor }) => readBodyFor(db, actor, getHolon, id),
    getHolonBySlug: ({ slug }, { actor }) => readBodyFor(db, actor, getHolonBySlug, slug),
    listClasses: ({ object_kind: kind }) => readBody(db, listClasses, kind ?? null),
    getClass: ({ object_kind: kind, slug }) => readBody(db, getClass, kind, slug),
    listJourneys: ({
      svc_app: app,
      object_kind: kind,
      applies_to: objectClass,
      is_conversation: conversation,
      q,
      limit = journeyPage,
      offset = 0,
    }) => readBody(db, listJourneys, app ?? null, kind ?? null, objectClass ?? null, conversation ?? null, q ?? null, limit, offset),
    getJourney: ({ slug }) => readBody(db, getJourney, slug),
  };
}

/** @throws AppError bad_request */
function readSort(sort: string | undefined): RecordSort {
  if (sort === undefined) return 'name';
  if (sort === 'name' || sort === 'latest' || sort === 'updated') return sort;
  throw badRequest('sort must be one of name, latest and updated.');
}

/** The kinds asked for, once each. @throws AppError bad_request */
function readTypes(types: string | undefined): string[] {
  const asked = types === undefined ? ['person', 'holon'] : types.split(',').map((type) => type.trim());
  if (!asked.every((type) => type === 'person' || type === 'holon')) throw badRequest('types must be a list of person and holon.');
  return [...new Set(asked)];
}

/** Instants of the strictly-after filters; a naive one is UTC. */
function readAfter(filters: Pick<PersonListQuery & HolonListQuery, 'created_after' | 'updated_after'>): (string | null)[] {
  return [filters.created_after, filters.updated_after].map((text) => {
    const parsed = text === undefined ? undefined : parseInstant(text);
    return parsed === undefined || parsed.kind === 'invalid' ? null : formatInstant(parsed.instant);
  });
}
