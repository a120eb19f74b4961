/**
 * Finds a page of readable events at a cost that does not depend on the number of hidden events (V4). It first scans by
 * position, which is fast for callers that can read many events. Then it scans by readable subjects, of which callers
 * with little access have few.
 */
import { type FeedSubject, feedSubjects } from '#libs/infrastructure/contract';
import type { Bus } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import { feedTypes } from './contract.ts';
import {
  findWindowEnd,
  type FoundEvent,
  listSeenSubjects,
  scanFeed,
  scanPositions,
  scanSubject,
  scanSubjects,
} from './statements/read.ts';
import { type ReaderContext, filterReadable, type Viewer } from './viewer.ts';

/**
 * Number of events of the requested types that are scanned by position in the first step, and at most in any step
 * (`widestWindow`).
 */
const firstWindow = 4_000;
const widestWindow = 32_000;
/**
 * Maximum number of steps per page. The page then ends at the last scanned position, so that no request occupies the
 * database for long.
 */
const maxSteps = 6;
/** Minimum row limit of the steps after the first. */
const minRows = 100;
const maxSubjects = 2_000;
/** Maximum number of distinct sets of holons that are checked per subject type. */
const maxSets = 5_000;
/**
 * Each subject reads its share of the page plus this number of events. The sum is multiplied in each further step
 * (`shareGrowth`).
 */
const extraPerSubject = 8;
const shareGrowth = 4;

export interface EventFilter {
  readonly types: readonly string[] | null;
  readonly subjectType: string | null;
  readonly subjectId: number | null;
  readonly limit: number;
}

interface Dependencies {
  readonly db: Database;
  readonly bus: Bus;
  readonly context: ReaderContext;
}

interface Subjects {
  readonly seenTypes: readonly string[];
  readonly seenIds: readonly number[];
}

interface Step {
  readonly rows: readonly FoundEvent[];
  /** All readable events up to this position were found. */
  readonly reached: number;
  /** All readable subjects, when known. */
  readonly subjects?: Subjects | undefined;
}

interface Range {
  readonly from: number;
  readonly upTo: number;
}

export interface Page {
  readonly items: readonly FoundEvent[];
  /** True when there can be more events. */
  readonly hasMore: boolean;
  /** All readable events up to this position were found. */
  readonly reached: number;
}

/** Returns events that the viewer can read, after position `after` and up to `upTo`. */
export async function findPage(
  deps: Dependencies,
  viewer: Viewer,
  filter: EventFilter,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<Page> {
  const items: FoundEvent[] = [];
  const maxItems = filter.limit + 1;
  let [from, window] = [after, firstWindow];
  let subjects: Subjects | undefined;
  for (let steps = 0; steps < maxSteps && from < upTo && items.length < maxItems; steps++) {
    const part = { ...filter, limit: Math.max(maxItems - items.length, steps === 0 ? 0 : minRows) };
    const found: Step =
      subjects === undefined
        ? await step(deps, viewer, part, { from, upTo, window })
        : await scanSeen(deps, viewer, part, { from, upTo, subjects, growth: shareGrowth ** steps });
    items.push(...(await filterReadable(deps.bus, deps.context, viewer, found.rows)));
    ({ reached: from, subjects } = found);
    window = Math.min(window * 8, widestWindow);
  }
  const page = items.slice(0, filter.limit);
  if (items.length > page.length) return { items: page, hasMore: true, reached: page.at(-1)?.position ?? from };
  return { items: page, hasMore: from < upTo, reached: from };
}

/** Returns the given events that the viewer can read now, by position. */
export async function findReadable(
  { db, bus, context }: Dependencies,
  viewer: Viewer,
  events: readonly { readonly position: number; readonly occurred_at: string }[],
): Promise<Map<number, FoundEvent>> {
  if (events.length === 0) return new Map();
  const positions = events.map(({ position }) => position);
  const rows = await scanPositions(db, { ...viewer, positions, occurredAt: events.map(({ occurred_at: at }) => at) });
  return new Map((await filterReadable(bus, context, viewer, rows)).map((event) => [event.position, event]));
}

async function step(
  deps: Dependencies,
  viewer: Viewer,
  filter: EventFilter,
  { from, upTo, window }: Range & { readonly window: number },
): Promise<Step> {
  const { db } = deps;
  const { types, subjectType, subjectId, limit } = filter;
  const values = { ...viewer, types, subjectType, limit };
  const fullOr = (rows: readonly FoundEvent[], otherwise: number): Step => ({
    rows,
    reached: endOf(rows, limit) ?? otherwise,
  });
  if (subjectId !== null) return fullOr(await scanSubject(db, { ...values, subjectId, after: from, upTo }), upTo);
  const end = viewer.seesAll
    ? upTo
    : ((await findWindowEnd(db, { after: from, upTo, types, window }))?.position ?? upTo);
  const near = await scanFeed(db, { ...values, after: from, upTo: end });
  if (near.length === limit || end === upTo) return fullOr(near, end);
  const subjectTypes = subjectType !== null ? [subjectType] : types === null ? [...feedSubjects] : subjectsOf(types);
  const seen = await listSeenSubjects(db, { ...viewer, subjectTypes, after: end, maxSets, limit: maxSubjects + 1 });
  if (seen.length > maxSubjects || seen[0]?.more === true) return fullOr(near, end);
  const subjectsSeen = seen.flatMap(({ type, id }) => (type === null || id === null ? [] : [{ type, id }]));
  const subjects = { seenTypes: subjectsSeen.map(({ type }) => type), seenIds: subjectsSeen.map(({ id }) => id) };
  const far = await scanSeen(
    deps,
    viewer,
    { ...filter, limit: limit - near.length },
    { from: end, upTo, subjects, growth: 1 },
  );
  return { ...far, rows: [...near, ...far.rows] };
}

/** Scans the events of the readable subjects. */
async function scanSeen(
  { db }: Dependencies,
  viewer: Viewer,
  { types, subjectType, limit }: EventFilter,
  { from, upTo, subjects, growth }: Range & { readonly subjects: Subjects; readonly growth: number },
): Promise<Step> {
  const count = subjects.seenIds.length;
  if (count === 0) return { rows: [], reached: upTo, subjects };
  const each = Math.min(limit, (Math.ceil((2 * limit) / count) + extraPerSubject) * growth);
  const rows = await scanSubjects(db, { ...viewer, ...subjects, types, subjectType, limit, after: from, upTo, each });
  return { rows, reached: endOf(rows, limit) ?? rows[0]?.reached ?? upTo, subjects };
}

/** Returns the last position of a full page; returns undefined for a shorter page. */
const endOf = (rows: readonly FoundEvent[], limit: number): number | undefined =>
  rows.length < limit ? undefined : rows.at(-1)?.position;

/**
 * Returns the types in a list such as `person.*,conversation.created`; returns undefined when the list contains an
 * unknown type (V3).
 */
export function parseTypes(text: string): string[] | undefined {
  const types = new Set<string>();
  for (const name of text.split(',').map((part) => part.trim())) {
    const matching = name.endsWith('.*')
      ? feedTypes.filter(({ type }) => type.startsWith(name.slice(0, -1)))
      : feedTypes.filter(({ type }) => type === name);
    if (matching.length === 0) return undefined;
    for (const { type } of matching) types.add(type);
  }
  return [...types];
}

/** Returns the subject types of these event types. */
function subjectsOf(types: readonly string[]): FeedSubject[] {
  return [...new Set(feedTypes.filter(({ type }) => types.includes(type)).map(({ subject }) => subject))];
}
