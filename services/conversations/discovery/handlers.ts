/**
 * Handles search, summary and browse (rules/discovery; D5, D17, D18a to D18g, D28). All rows of a batch share one
 * look-up for people, one for holons and one for journeys.
 */
import { isPossibleId, type RequestOf } from '#libs/infrastructure/contract';
import { AppError, notFound } from '#libs/infrastructure/errors';
import {
  jsonListStream,
  type JsonStream,
  jsonStream,
  rawJson,
  type RawJson,
  type RequestContext,
  type TaggedReply,
  withTotal,
} from '#libs/infrastructure/nats';
import { formatInstant, parseInstant } from '#libs/infrastructure/time';
import type { conversations } from '../contract.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import {
  type CachedHolon,
  type CachedJourney,
  type DirectoryCache,
  HolonVisibility,
} from '../directory-cache/index.ts';
import { requireId } from '../guards.ts';
import { conversationTitle } from '../publishing.ts';
import { idsFromSql, type RowReferences } from '../representation.ts';
import type { SummaryRow } from '../statements.ts';
import { containsWords, renderPublicConversation, renderSearchItem, searchWords } from './rules.ts';
import {
  chooseSearch,
  deletedSearch,
  filteredSearch,
  type FilterValues,
  listOwningEvents,
  type PublicRow,
  type SearchFilters,
  searchPlanner as planner,
  type SearchRow,
  streamGroups,
  streamJourney,
  summarizeConversation,
} from './statements.ts';

type Rpcs = typeof conversations.rpcs;

export function createDiscoveryHandlers(
  dependencies: Dependencies,
): Pick<Operations, 'search' | 'summarize' | 'browseHolon' | 'browseJourney'> {
  return {
    search: (request, context) => search(dependencies, request, context),
    summarize: (request, context) => summarize(dependencies, request, context),
    browseHolon: (request, context) => browseHolon(dependencies, request, context),
    browseJourney: (request, context) => browseJourney(dependencies, request, context),
  };
}

/**
 * Size of the first batch, which covers a typical search with one database round trip and one directory look-up. The
 * people and journeys of this batch are cached for the next search.
 */
const firstBatch = 1_000;
/** Size of further batches, which limits the memory of long replies. */
const batch = 200;

/**
 * Streams all matching conversations. @throws AppError 404 when the target of a filter does not exist or is a holon
 * that the caller cannot see
 */
async function search(
  dependencies: Dependencies,
  request: RequestOf<Rpcs['search']>,
  context: RequestContext,
): Promise<JsonStream | TaggedReply<RawJson>> {
  if (furtherParameters.some((name) => request[name] !== undefined))
    return searchFiltered(dependencies, request, context);
  const visibility = new HolonVisibility(dependencies.directory, context);
  const [filters, scope] = await Promise.all([
    resolveFilters(dependencies, visibility, request),
    dependencies.access.findScope(context),
  ]);
  const { search: chosen, values } = chooseSearch({ ...filters, scope }, request.sort ?? 'date_desc');
  return jsonListStream(
    renderBatches(
      dependencies,
      visibility,
      chosen.stream(dependencies.db, values, { batchSize: batch, firstBatchSize: firstBatch, planner }),
    ),
  );
}

/** Parameters of the search with further filters or pages (W8). */
const furtherParameters = ['journey', 'step', 'from', 'to', 'q', 'deleted', 'limit', 'offset'] as const;

/** Number of rows that are compared with `q` at once. */
const comparedBatch = 1_000;

/**
 * Streams the matching conversations, or returns a page of them with their number when `limit` is given (W8).
 * @throws AppError 403 `coherence_access_required` for deleted ones, 404 as `search`
 */
async function searchFiltered(
  dependencies: Dependencies,
  request: RequestOf<Rpcs['search']>,
  context: RequestContext,
): Promise<JsonStream | TaggedReply<RawJson>> {
  const { db, directory, access } = dependencies;
  const { sort = 'date_desc', limit, offset = 0 } = request;
  if (request.deleted === true) access.requireCoherenceAccess(context);
  const visibility = new HolonVisibility(directory, context);
  const values = await resolveFurther(dependencies, visibility, request, context);
  const { pages, count } = request.deleted === true ? deletedSearch : filteredSearch;
  const words = searchWords(request.q);
  if (words.length > 0) {
    const all = pages[sort].stream(db, { ...values, limit: null, offset: 0 }, { batchSize: comparedBatch, planner });
    const found = findMatches(directory, all, words);
    if (limit === undefined) return jsonListStream(renderBatches(dependencies, visibility, skip(found, offset)));
    const page: SearchRow[] = [];
    let total = 0;
    for await (const rows of found) {
      for (const row of rows) if (total++ >= offset && page.length < limit) page.push(row);
    }
    return toPage(await renderSearchItems(directory, visibility, page, { cacheMisses: true }), total);
  }
  if (limit === undefined) {
    const all = pages[sort].stream(db, { ...values, limit: null, offset }, { batchSize: batch, planner });
    return jsonListStream(renderBatches(dependencies, visibility, all));
  }
  const [rows, { count: total }] = await Promise.all([
    pages[sort](db, { ...values, limit, offset }),
    count(db, values),
  ]);
  return toPage(await renderSearchItems(directory, visibility, rows, { cacheMisses: true }), total);
}

const toPage = (items: readonly string[], total: number): TaggedReply<RawJson> =>
  withTotal(rawJson(`[${items.join(',')}]`), total);

/** Resolves all filters and the caller's rights to ids. @throws AppError 404 */
async function resolveFurther(
  dependencies: Dependencies,
  visibility: HolonVisibility,
  request: RequestOf<Rpcs['search']>,
  context: RequestContext,
): Promise<FilterValues> {
  const { db, directory, access } = dependencies;
  const { journey: journeySlug, step, from, to } = request;
  const [filters, scope, events, journey] = await Promise.all([
    resolveFilters(dependencies, visibility, request),
    access.findScope(context),
    listOwningEvents(db),
    journeySlug === undefined ? undefined : directory.findJourneyBySlug(journeySlug),
  ]);
  if (journeySlug !== undefined && journey === undefined) throw notFound();
  const stepIds = step === undefined ? null : await findStepIds(directory, journey, step);
  if (stepIds?.length === 0) throw notFound();
  const holons = await visibility.lookUp(events.map(({ id }) => id));
  return {
    eventIds: filters.eventIds,
    connectedId: filters.connectedId,
    personId: filters.personId,
    journeyId: journey?.id,
    stepIds,
    from: toInstant(from),
    to: toInstant(to),
    hiddenEventIds: events.map(({ id }) => id).filter((id) => holons.isHidden(id)),
    scopePersonId: scope?.personId,
    scopeEventIds: scope?.eventIds,
  };
}

async function findStepIds(
  directory: DirectoryCache,
  journey: CachedJourney | undefined,
  slug: string,
): Promise<readonly number[]> {
  return journey === undefined
    ? directory.findSteps(slug)
    : journey.steps.flatMap((step) => (step.slug === slug ? [step.id] : []));
}

/** Returns the time for PostgreSQL; without an offset it is in UTC (rules/http#datetimes-in). */
function toInstant(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const parsed = parseInstant(text);
  if (parsed.kind === 'invalid') throw new AppError({ code: 'unprocessable', message: `"${text}" is not a datetime.` });
  return formatInstant(parsed.instant);
}

/** Yields the rows whose title and participants' names contain all words. Empty batches are left out. */
async function* findMatches(
  directory: DirectoryCache,
  batches: AsyncIterable<SearchRow[]>,
  words: readonly string[],
): AsyncGenerator<SearchRow[]> {
  for await (const rows of batches) {
    const findPerson = await directory.people.lookUp(
      rows.flatMap((row) => idsFromSql(row.participants)),
      false,
    );
    const found = rows.filter((row) =>
      containsWords(words, [
        conversationTitle(row),
        ...idsFromSql(row.participants).flatMap((id) => findPerson(id)?.name ?? []),
      ]),
    );
    if (found.length > 0) yield found;
  }
}

async function* skip(batches: AsyncIterable<SearchRow[]>, offset: number): AsyncGenerator<SearchRow[]> {
  let remaining = offset;
  for await (const rows of batches) {
    const rest = rows.slice(remaining);
    remaining = Math.max(0, remaining - rows.length);
    if (rest.length > 0) yield rest;
  }
}

/** Resolves the slugs in filters to ids. Filters that do not refer to the directory are passed on unchanged. */
async function resolveFilters(
  { directory }: Dependencies,
  visibility: HolonVisibility,
  request: RequestOf<Rpcs['search']>,
): Promise<Omit<SearchFilters, 'scope'>> {
  const { holon_slug: ownerSlug, connected_holon_slug: connectedSlug, person_id: personId } = request;
  const [owner, connected, people] = await Promise.all([
    ownerSlug === undefined ? undefined : visibility.findSubtree(ownerSlug),
    connectedSlug === undefined ? undefined : visibility.findVisible(connectedSlug),
    personId === undefined || !isPossibleId(personId) ? undefined : directory.people.getMany([personId]),
  ]);
  const missing =
    (ownerSlug !== undefined && owner === undefined) ||
    (connectedSlug !== undefined && connected === undefined) ||
    (personId !== undefined && people?.has(personId) !== true);
  if (missing) throw notFound();
  return { eventIds: owner?.ids, connectedId: connected, personId };
}

async function* renderBatches(
  { directory }: Dependencies,
  visibility: HolonVisibility,
  batches: AsyncIterable<SearchRow[]>,
): AsyncGenerator<string[]> {
  let cacheMisses = true;
  for await (const rows of batches) {
    yield await renderSearchItems(directory, visibility, rows, { cacheMisses });
    cacheMisses = false;
  }
}

/**
 * Returns the summary of a conversation. @throws AppError 404 when the conversation does not exist or belongs to an
 * event that the caller cannot see
 */
async function summarize(
  { db, directory }: Dependencies,
  request: RequestOf<Rpcs['summarize']>,
  context: RequestContext,
): Promise<RawJson> {
  const row = await summarizeConversation(db, { id: requireId(request.conversation_id) });
  if (row === undefined) throw notFound();
  const [item] = await renderSearchItems(directory, new HolonVisibility(directory, context), [row], {
    cacheMisses: true,
  });
  if (item === undefined) throw notFound();
  return rawJson(item);
}

/** Conversations of an event and one of its journeys. */
interface Group {
  readonly eventId: number;
  readonly journeyId: number;
  /** JSON before the first conversation. */
  readonly head: string;
  /** JSON after the last conversation. */
  readonly tail: string;
}

/**
 * Handles GET /browse/holons/{holon_slug}/conversations. @throws AppError 404 when the holon does not exist or the
 * caller cannot see it
 */
async function browseHolon(
  dependencies: Dependencies,
  request: RequestOf<Rpcs['browseHolon']>,
  context: RequestContext,
): Promise<JsonStream> {
  const { db, directory, access } = dependencies;
  const visibility = new HolonVisibility(directory, context);
  const [{ holon, events }, scope] = await Promise.all([
    visibility.browse(request.holon_slug),
    access.findScope(context),
  ]);
  const journeys = await directory.journeys.getMany(
    events.flatMap((event) => event.journeys.items.map((journey) => journey.id)),
  );
  const groups: Group[] = [];
  let open = `{"holon":${JSON.stringify(holon)},"events":[`;
  for (const [index, { journeys: attached, ...event }] of events.entries()) {
    open += `${index === 0 ? '' : ','}${JSON.stringify(event).slice(0, -1)},"journeys":[`;
    const known = attached.items.flatMap(({ id }) => journeys.get(id) ?? []);
    for (const [position, journey] of known.entries()) {
      const head = `${open}${position === 0 ? '' : ','}{"journey":${journey.browseJson},"conversations":[`;
      groups.push({ eventId: event.id, journeyId: journey.id, head, tail: ']}' });
      open = '';
    }
    open += ']}';
  }
  const read = () => streamGroups(db, groups, scope);
  return jsonStream(writeGroups(dependencies, visibility, groups, groups.length === 0 ? undefined : read, `${open}]}`));
}

/**
 * Handles GET /browse/conversations.
 * @throws AppError 400 unless exactly one of `journey_id` and `journey_slug` is provided; 404 when the journey is not a
 * conversation journey, or the caller cannot see the holon
 */
async function browseJourney(
  dependencies: Dependencies,
  request: RequestOf<Rpcs['browseJourney']>,
  context: RequestContext,
): Promise<JsonStream> {
  const { db, directory, access } = dependencies;
  if ((request.journey_id === undefined) === (request.journey_slug === undefined)) {
    throw new AppError({
      code: 'bad_request',
      message: 'Exactly one of journey_id and journey_slug must be provided.',
    });
  }
  const visibility = new HolonVisibility(directory, context);
  const [journey, eventId, scope] = await Promise.all([
    findJourney(dependencies, request),
    request.holon_slug === undefined ? null : visibility.findVisible(request.holon_slug),
    access.findScope(context),
  ]);
  if (journey?.isConversation !== true || eventId === undefined) throw notFound();
  const isEvent =
    eventId !== null && (await directory.holons.getMany([eventId])).get(eventId)?.conversationEvent === true;
  const group: Group = {
    eventId: eventId ?? 0,
    journeyId: journey.id,
    head: `{"journey":${journey.browseJson},"conversations":[`,
    tail: ']',
  };
  const read = () => (eventId === null ? streamJourney(db, journey.id, scope) : streamGroups(db, [group], scope));
  return jsonStream(
    writeGroups(dependencies, visibility, [group], eventId === null || isEvent ? read : undefined, '}'),
  );
}

async function findJourney(
  { directory }: Dependencies,
  request: RequestOf<Rpcs['browseJourney']>,
): Promise<CachedJourney | undefined> {
  const { journey_id: id, journey_slug: slug } = request;
  if (slug !== undefined) return directory.findJourneyBySlug(slug);
  return id === undefined || !isPossibleId(id) ? undefined : (await directory.journeys.getMany([id])).get(id);
}

/**
 * Writes all groups, including empty ones, with rows that are sorted by group. Without `read`, all groups are empty.
 */
async function* writeGroups(
  { directory }: Dependencies,
  visibility: HolonVisibility,
  groups: readonly Group[],
  read: (() => AsyncIterable<PublicRow[]>) | undefined,
  end: string,
): AsyncGenerator<string> {
  let opened = 0;
  let text = '';
  let first = true;
  const openUpTo = (ordinal: number): void => {
    for (; opened < ordinal; opened++) {
      text += `${groups[opened - 1]?.tail ?? ''}${groups[opened]?.head ?? ''}`;
      first = true;
    }
  };
  if (read !== undefined) {
    for await (const rows of read()) {
      for (const { row, text: item } of await renderPublicConversations(directory, visibility, rows, {
        cacheMisses: opened === 0,
      })) {
        openUpTo(row.ordinal);
        text += first ? item : `,${item}`;
        first = false;
      }
      yield text;
      text = '';
    }
  }
  openUpTo(groups.length);
  yield `${text}${groups[opened - 1]?.tail ?? ''}${end}`;
}

/**
 * Whether to cache the people and journeys of the rows. Long replies are not cached, because they would evict entries
 * that other callers use.
 */
interface CacheUse {
  readonly cacheMisses: boolean;
}

type Render<Row> = (row: Row, event: CachedHolon | undefined, references: RowReferences) => string;

/** Returns the JSON of search items in order, without conversations of events that the caller cannot see (D18f). */
export async function renderSearchItems(
  directory: DirectoryCache,
  visibility: HolonVisibility,
  rows: readonly SearchRow[],
  cacheUse: CacheUse,
): Promise<string[]> {
  return (await renderRows(directory, visibility, rows, renderSearchItem, cacheUse)).map(({ text }) => text);
}

/**
 * Returns public conversations as JSON with their rows, in order, without conversations of events that the caller
 * cannot see (D18f).
 */
export async function renderPublicConversations(
  directory: DirectoryCache,
  visibility: HolonVisibility,
  rows: readonly PublicRow[],
  cacheUse: CacheUse,
): Promise<{ row: PublicRow; text: string }[]> {
  return renderRows(
    directory,
    visibility,
    rows,
    (row, _event, references) => renderPublicConversation(row, references),
    cacheUse,
  );
}

async function renderRows<Row extends SummaryRow>(
  directory: DirectoryCache,
  visibility: HolonVisibility,
  rows: readonly Row[],
  render: Render<Row>,
  { cacheMisses }: CacheUse,
): Promise<{ row: Row; text: string }[]> {
  const [person, holons, findJourney] = await Promise.all([
    directory.people.lookUp(
      rows.flatMap((row) => idsFromSql(row.participants)),
      cacheMisses,
    ),
    visibility.lookUp(rows.flatMap((row) => [...idsFromSql(row.connected), row.event_id ?? []].flat())),
    directory.journeys.lookUp(
      rows.flatMap((row) => row.journey_id ?? []),
      cacheMisses,
    ),
  ]);
  const visible = rows.filter((row) => row.event_id === null || !holons.isHidden(row.event_id));
  return visible.map((row) => {
    const journey = row.journey_id === null ? undefined : findJourney(row.journey_id);
    const event = row.event_id === null ? undefined : holons.find(row.event_id);
    return { row, text: render(row, event, { person, holon: holons.find, journey }) };
  });
}
