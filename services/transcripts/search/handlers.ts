/**
 * Handler of `transcripts.transcripts.search` (rules/transcripts#search; T2, T3, T6). This service finds the words and
 * stores the access facts of conversations. The conversations service decides what the caller may read, and is called
 * for each page. docs/adr/transcript-search.md
 */
import type { RequestOf } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import type { CallContext, Handler, HandlersOf } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import { conversations } from '#services/conversations';
import type { Dependencies } from '../dependencies.ts';
import { describeSpeaker, toMilliseconds } from '../speaker.ts';
import { readSpeakerNames } from '../speaker-names.ts';
import { type searchRpcs, type TranscriptMatch, defaultLimit } from './contract.ts';
import { type Cursor, type Position, readCursor, writeCursor } from './rules/cursor.ts';
import { cutAfter, cutAround, cutBefore, PageBudget } from './rules/excerpt.ts';
import { findHighlights, type SearchQuery, parseQuery, toTsquery } from './rules/query.ts';
import {
  estimateMatches,
  findBest,
  findEdge,
  listFitting,
  listSegments,
  listConversationsWithSpeaker,
  walkBest,
} from './statements/search.ts';

/** Number of matches that are ranked together. */
const windowSize = 500;
/** Maximum windows read per page. After that the page can have fewer matches than requested. */
const maxRounds = 4;
/**
 * Minimum number of expected matches for a walk, which reads the newest conversations in batches. Reading so many
 * matches at once takes too long (T3).
 */
const walkThreshold = 20_000;
const conversationsPerWalk = 30;
/** Maximum duration of a walk. After that the page can have fewer matches than requested. */
const maxWalkMs = 60;
const maxConversationIds = 1_000;
const newest: Position = { start: '9999-12-31T23:59:59Z', id: 2_147_483_647, index: 2_147_483_647 };
const oldest: Position = { start: '0001-01-01T00:00:00Z', id: 0, index: 0 };
/** Empty conversation filters, for an estimate of the query alone. */
const noConversationFilters = {
  eventIds: null,
  journeyId: null,
  from: null,
  to: null,
  scopePersonId: null,
  scopeEventIds: null,
  hiddenEventIds: [],
  conversationIds: null,
};
const emptyPage = { items: [], next: null, total_estimate: 0 };

type SearchDependencies = Pick<Dependencies, 'bus' | 'db'>;

const { resolveTranscriptFilters, citeConversations } = conversations.rpcs;

type Request = RequestOf<typeof searchRpcs.search>;
type Found = Awaited<ReturnType<typeof findBest>>[number];

export function createSearchHandlers(deps: SearchDependencies): HandlersOf<typeof searchRpcs> {
  return { search: createSearch(deps) };
}

function createSearch(deps: SearchDependencies): Handler<typeof searchRpcs.search> {
  return async ({ limit = defaultLimit, cursor: given, ...request }, context) => {
    const scope = await deps.bus.call(resolveTranscriptFilters, toFilters(request), context);
    const start: Cursor = { below: null, last: null, after: null, total: 0 };
    const cursor = given === undefined ? start : readCursor(given, request);
    if (cursor === undefined)
      throw new AppError({
        code: 'bad_request',
        reason: 'invalid_cursor',
        message: '`cursor` does not belong to this search',
      });
    const parsedQuery = parseQuery(request.q);
    const query = toTsquery(parsedQuery);
    if (query === undefined) return emptyPage;
    const conversationFilters = {
      eventIds: scope.event_ids,
      journeyId: scope.journey_id,
      from: request.from ?? null,
      to: request.to ?? null,
      scopePersonId: scope.scope?.person_id ?? null,
      scopeEventIds: scope.scope?.event_ids ?? null,
      hiddenEventIds: scope.hidden_event_ids,
    };
    const personId = request.person_id ?? null;
    const speakerConversations = personId === null ? null : await listFewConversationsWithSpeaker(deps.db, personId);
    const conversationIds = speakerConversations ?? (await listFewConversations(deps.db, conversationFilters));
    const filters = { ...conversationFilters, query, personId, conversationIds };
    // The estimate includes the speaker only if conversations are not selected by speaker: the word index contains no
    // speakers, so it is read for all speakers then.
    const expected = await estimate(deps.db, {
      ...noConversationFilters,
      query,
      personId: speakerConversations === null ? personId : null,
    });
    return await readPage({ ...deps, context, parsedQuery, filters, expected, limit }, cursor, (next) =>
      writeCursor(next, request),
    );
  };
}

/** Returns the matching conversations when there are few; otherwise null. */
async function listFewConversations(
  db: Database,
  filters: Omit<Parameters<typeof listFitting>[1], 'limit'>,
): Promise<number[] | null> {
  const { hiddenEventIds: _hidden, ...narrowing } = filters;
  if (Object.values(narrowing).every((value) => value === null)) return null;
  return idsUpToMax(await listFitting(db, { ...filters, limit: maxConversationIds + 1 }));
}

/** Returns the conversations of a speaker when there are few; otherwise null. */
async function listFewConversationsWithSpeaker(db: Database, personId: number): Promise<number[] | null> {
  return idsUpToMax(await listConversationsWithSpeaker(db, { personId, limit: maxConversationIds + 1 }));
}

const idsUpToMax = (rows: readonly { readonly id: number }[]): number[] | null =>
  rows.length > maxConversationIds ? null : rows.map(({ id }) => id);

function toFilters({ person_id, holon_slug, journey }: Omit<Request, 'limit' | 'cursor'>) {
  return {
    ...(person_id !== undefined && { person_id }),
    ...(holon_slug !== undefined && { holon_slug }),
    ...(journey !== undefined && { journey }),
  };
}

interface Search extends SearchDependencies {
  readonly context: CallContext;
  readonly parsedQuery: SearchQuery;
  readonly filters: Parameters<typeof estimateMatches>[1];
  /** Estimated number of matches without the conversation filters. */
  readonly expected: number;
  readonly limit: number;
}

/** Reads windows until the page is full or the limit of rounds is reached. */
async function readPage(search: Search, start: Cursor, write: (next: Cursor) => string) {
  const isFirst = start.below === null && start.after === null;
  const items: TranscriptMatch[] = [];
  const budget = new PageBudget();
  const { expected } = search;
  // A prefix always starts with a walk, since the number of words with that prefix is not known in advance.
  let isWalk = expected >= walkThreshold || search.parsedQuery.included.some(({ isPrefix }) => isPrefix);
  let { total } = start;
  let cursor: Cursor | undefined = start;
  const startedAt = performance.now();
  for (let round = 0; cursor !== undefined && items.length < search.limit; round++) {
    if (isWalk ? round > 0 && performance.now() - startedAt > maxWalkMs : round >= maxRounds) break;
    const page: Step = await readStep(search, cursor, search.limit - items.length, isWalk);
    const described = await describe(search, page.found);
    const added = budget.take(described.map(({ match }) => match));
    items.push(...described.slice(0, added).map(({ match }) => match));
    if (isFirst && round === 0) total = page.total ?? (await estimate(search.db, search.filters));
    const overflow = described[added];
    // The page is full. The cursor continues after the last added match; if none was added, this step is read again.
    if (overflow !== undefined) {
      const last = described[added - 1];
      cursor = last === undefined ? cursor : page.cursorAfter(last.found);
      break;
    }
    cursor = page.next;
    // After the first walk over the newest conversations, a query with few expected matches uses the word index, which
    // finds all of them at once.
    if (expected < walkThreshold) isWalk = false;
  }
  if (cursor === undefined && isFirst) return { items, next: null, total_estimate: items.length };
  return { items, next: cursor === undefined ? null : write({ ...cursor, total }), total_estimate: total };
}

interface Described {
  readonly match: TranscriptMatch;
  readonly found: Found;
}

interface Step {
  readonly found: readonly Found[];
  readonly next: Cursor | undefined;
  /** Number of all matches; undefined if they were not counted. */
  readonly total: number | undefined;
  /** Returns the cursor for continuing after this match. */
  readonly cursorAfter: (found: Found) => Cursor;
}

/** Reads one page of a window. A walk ends the window after a number of conversations. */
async function readStep({ db, filters }: Search, cursor: Cursor, limit: number, isWalk: boolean): Promise<Step> {
  const below = cursor.below ?? newest;
  const edge = isWalk ? await findWalkEdge(db, filters, below) : undefined;
  const last = cursor.last ?? edge ?? null;
  const spansFew = edge === undefined || last === null || Date.parse(last.start) >= Date.parse(edge.start);
  const after = cursor.after ?? { ...newest, score: Number.MAX_VALUE };
  const { start: lastStart, id: lastId, index: lastIndex } = last ?? oldest;
  const rows = await (isWalk && spansFew ? walkBest : findBest)(db, {
    ...filters,
    belowStart: below.start,
    belowId: below.id,
    belowIndex: below.index,
    lastStart,
    lastId,
    lastIndex,
    afterScore: after.score,
    afterStart: after.start,
    afterId: after.id,
    afterIndex: after.index,
    window: windowSize,
    limit: limit + 1,
  });
  const [first] = rows;
  const found = rows.slice(0, limit);
  const lastFound = found.at(-1);
  // The window has no more matches. If the window has a lower bound, there may be more matches below it.
  const next = last === null ? undefined : { ...cursor, below: last, last: null, after: null };
  if (first === undefined || lastFound === undefined)
    return { found, next, total: last === null ? 0 : undefined, cursorAfter: () => cursor };
  const isCut = first.found > windowSize;
  const total = isCut || last !== null ? undefined : first.found;
  const closed =
    isCut && cursor.last === null ? { start: first.last_start, id: first.last_id, index: first.last_index } : last;
  const cursorAfter = (match: Found): Cursor => ({ ...cursor, last: closed, after: positionOf(match) });
  if (rows.length > limit) return { found, next: cursorAfter(lastFound), total, cursorAfter };
  return {
    found,
    next: closed === null ? undefined : { ...cursor, below: closed, last: null, after: null },
    total,
    cursorAfter,
  };
}

async function findWalkEdge(
  db: Database,
  { query: _query, personId: _speaker, ...filters }: Search['filters'],
  below: Position,
): Promise<Position | undefined> {
  const found = await findEdge(db, {
    ...filters,
    belowStart: below.start,
    belowId: below.id,
    walked: conversationsPerWalk,
  });
  return found === undefined ? undefined : { ...found, index: 0 };
}

const positionOf = ({ start, conversation_id: id, segment_index: index, score }: Found) => ({
  start,
  id,
  index,
  score,
});

/** Returns the planner's estimate of the matches, but at least one more than a window. */
async function estimate(db: Database, filters: Search['filters']): Promise<number> {
  const { 'QUERY PLAN': text } = await estimateMatches(db, filters);
  const [plan] = JSON.parse(text) as { Plan: { 'Plan Rows': number } }[];
  return Math.max(windowSize + 1, Math.round(plan?.Plan['Plan Rows'] ?? 0));
}

/** Describes the matches that the caller can read now. */
async function describe({ bus, db, context, parsedQuery }: Search, found: readonly Found[]): Promise<Described[]> {
  if (found.length === 0) return [];
  const ids = [...new Set(found.map(({ conversation_id: id }) => id))];
  const [{ items }, rows, names] = await Promise.all([
    bus.call(citeConversations, { ids }, context),
    listSegments(db, {
      conversationIds: found.map((row) => row.conversation_id),
      indexes: found.map((row) => row.segment_index),
    }),
    readSpeakerNames({ bus, db }, ids, context),
  ]);
  const cited = new Map(items.map((item) => [item.id, item]));
  const positions = new Map(found.map((row) => [`${row.conversation_id}/${row.segment_index}`, row]));
  return rows.flatMap((row) => {
    const conversation = cited.get(row.conversation_id);
    // Undefined when the row was replaced since the search and no longer matches.
    const highlights = findHighlights(parsedQuery, row.text);
    const position = positions.get(`${row.conversation_id}/${row.segment_index}`);
    if (conversation === undefined || highlights === undefined || position === undefined) return [];
    const visible = cutAround(row.text, highlights);
    const segment = {
      index: row.segment_index,
      start_ms: toMilliseconds(row.start_us),
      end_ms: toMilliseconds(row.end_us),
      speaker: describeSpeaker(row.person_id, names(row.conversation_id, row.person_id)),
      text: visible.text,
    };
    const before = row.before === null ? null : cutBefore(row.before);
    const after = row.after === null ? null : cutAfter(row.after);
    return [{ match: { conversation, segment, highlights: visible.highlights, before, after }, found: position }];
  });
}
