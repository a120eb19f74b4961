/**
 * Finding a page of what somebody sees, at a cost that does not depend on how much they do not see (V4): first by position, where those who see much
 * find a page at once; then by the subjects that they see, of which there are few where that found little.
 */
import { feedSubjects } from '#libs/contract';
import type { Bus } from '#libs/nats';
import type { Database } from '#libs/orm';
import { findWindowEnd, type FoundEvent, listSeenSubjects, scanFeed, scanPositions, scanSubject, scanSubjects } from './statements/read.ts';
import { subjectsOf } from './types.ts';
import { type Asking, keepReadable, type Viewer } from './viewer.ts';

/** Events of the wanted types that are looked through before it goes by subjects, and at most at once. */
const firstWindow = 4_000;
const widestWindow = 32_000;
/** Then a page ends where it has come to, whatever it has found: no request holds the database for long. */
const mostSteps = 6;
/** Looked through at once where a step found too little, however few are missing. */
const leastRows = 100;
const fewSubjects = 2_000;
/** Sets of holons that are looked through, of each type of subject. */
const mostSets = 5_000;
/** Events of one subject that are read at once are its share of the page, and so many more; where that did not do, more the next time. */
const roomOfShare = 8;
const growthOfShare = 4;

export interface Wanted {
  readonly types: readonly string[] | null;
  readonly subjectType: string | null;
  readonly subjectId: number | null;
  readonly limit: number;
}

interface Dependencies {
  readonly db: Database;
  readonly bus: Bus;
  readonly context: Asking;
}

interface Subjects {
  readonly seenTypes: readonly string[];
  readonly seenIds: readonly number[];
}

interface Step {
  readonly rows: readonly FoundEvent[];
  /** Nothing up to there is missing. */
  readonly reached: number;
  /** They see no others. */
  readonly subjects?: Subjects | undefined;
}

interface Range {
  readonly from: number;
  readonly upTo: number;
}

export interface Page {
  readonly items: readonly FoundEvent[];
  /** There may be more. */
  readonly hasMore: boolean;
  /** Nothing up to there is missing. */
  readonly reached: number;
}

/** What the viewer sees behind `after` up to `upTo`. */
export async function findPage(
  deps: Dependencies,
  viewer: Viewer,
  wanted: Wanted,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<Page> {
  const items: FoundEvent[] = [];
  const most = wanted.limit + 1;
  let [from, window] = [after, firstWindow];
  let subjects: Subjects | undefined;
  for (let steps = 0; steps < mostSteps && from < upTo && items.length < most; steps++) {
    const part = { ...wanted, limit: Math.max(most - items.length, steps === 0 ? 0 : leastRows) };
    const found: Step =
      subjects === undefined
        ? await step(deps, viewer, part, { from, upTo, window })
        : await scanSeen(deps, viewer, part, { from, upTo, subjects, growth: growthOfShare ** steps });
    items.push(...(await keepReadable(deps.bus, deps.context, viewer, found.rows)));
    ({ reached: from, subjects } = found);
    window = Math.min(window * 8, widestWindow);
  }
  const page = items.slice(0, wanted.limit);
  if (items.length > page.length) return { items: page, hasMore: true, reached: page.at(-1)?.position ?? from };
  return { items: page, hasMore: from < upTo, reached: from };
}

/** Those of these events that the viewer sees at this moment, by their positions. */
export async function findShown(
  { db, bus, context }: Dependencies,
  viewer: Viewer,
  wanted: readonly { readonly position: number; readonly occurred_at: string }[],
): Promise<Map<number, FoundEvent>> {
  if (wanted.length === 0) return new Map();
  const positions = wanted.map(({ position }) => position);
  const rows = await scanPositions(db, { ...viewer, positions, occurredAt: wanted.map(({ occurred_at: at }) => at) });
  return new Map((await keepReadable(bus, context, viewer, rows)).map((event) => [event.position, event]));
}

async function step(
  deps: Dependencies,
  viewer: Viewer,
  wanted: Wanted,
  { from, upTo, window }: Range & { readonly window: number },
): Promise<Step> {
  const { db } = deps;
  const { types, subjectType, subjectId, limit } = wanted;
  const values = { ...viewer, types, subjectType, limit };
  const fullOr = (rows: readonly FoundEvent[], otherwise: number): Step => ({ rows, reached: endOf(rows, limit) ?? otherwise });
  if (subjectId !== null) return fullOr(await scanSubject(db, { ...values, subjectId, after: from, upTo }), upTo);
  const end = viewer.seesAll ? upTo : ((await findWindowEnd(db, { after: from, upTo, types, window }))?.position ?? upTo);
  const near = await scanFeed(db, { ...values, after: from, upTo: end });
  if (near.length === limit || end === upTo) return fullOr(near, end);
  const subjectTypes = subjectType !== null ? [subjectType] : types === null ? [...feedSubjects] : subjectsOf(types);
  const seen = await listSeenSubjects(db, { ...viewer, subjectTypes, after: end, mostSets, limit: fewSubjects + 1 });
  if (seen.length > fewSubjects || seen[0]?.more === true) return fullOr(near, end);
  const known = seen.flatMap(({ type, id }) => (type === null || id === null ? [] : [{ type, id }]));
  const subjects = { seenTypes: known.map(({ type }) => type), seenIds: known.map(({ id }) => id) };
  const far = await scanSeen(deps, viewer, { ...wanted, limit: limit - near.length }, { from: end, upTo, subjects, growth: 1 });
  return { ...far, rows: [...near, ...far.rows] };
}

/** Subject by subject. */
async function scanSeen(
  { db }: Dependencies,
  viewer: Viewer,
  { types, subjectType, limit }: Wanted,
  { from, upTo, subjects, growth }: Range & { readonly subjects: Subjects; readonly growth: number },
): Promise<Step> {
  const count = subjects.seenIds.length;
  if (count === 0) return { rows: [], reached: upTo, subjects };
  const each = Math.min(limit, (Math.ceil((2 * limit) / count) + roomOfShare) * growth);
  const rows = await scanSubjects(db, { ...viewer, ...subjects, types, subjectType, limit, after: from, upTo, each });
  return { rows, reached: endOf(rows, limit) ?? rows[0]?.reached ?? upTo, subjects };
}

/** Where a page that is full ends. */
const endOf = (rows: readonly FoundEvent[], limit: number): number | undefined => (rows.length < limit ? undefined : rows.at(-1)?.position);
