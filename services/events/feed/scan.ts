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

interface Step {
  readonly rows: readonly FoundEvent[];
  /** Nothing up to there is missing. */
  readonly reached: number;
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
  for (let steps = 0; steps < mostSteps && from < upTo && items.length < most; steps++) {
    const limit = Math.max(most - items.length, steps === 0 ? 0 : leastRows);
    const { rows, reached } = await step(deps, viewer, { ...wanted, limit }, { from, upTo, window });
    items.push(...(await keepReadable(deps.bus, deps.context, viewer, rows)));
    [from, window] = [reached, Math.min(window * 8, widestWindow)];
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
  { db }: Dependencies,
  viewer: Viewer,
  { types, subjectType, subjectId, limit }: Wanted,
  { from, upTo, window }: { readonly from: number; readonly upTo: number; readonly window: number },
): Promise<Step> {
  const values = { ...viewer, types, subjectType, limit };
  const fullOr = (rows: readonly FoundEvent[], otherwise: number): Step => ({
    rows,
    reached: rows.length < limit ? otherwise : (rows.at(-1)?.position ?? otherwise),
  });
  if (subjectId !== null) return fullOr(await scanSubject(db, { ...values, subjectId, after: from, upTo }), upTo);
  const end = viewer.seesAll ? upTo : ((await findWindowEnd(db, { after: from, upTo, types, window }))?.position ?? upTo);
  const near = await scanFeed(db, { ...values, after: from, upTo: end });
  if (near.length === limit || end === upTo) return fullOr(near, end);
  const subjectTypes = subjectType !== null ? [subjectType] : types === null ? [...feedSubjects] : subjectsOf(types);
  const seen = await listSeenSubjects(db, { ...viewer, subjectTypes, after: end, limit: fewSubjects + 1 });
  if (seen.length > fewSubjects) return fullOr(near, end);
  const far = await scanSubjects(db, {
    ...values,
    after: end,
    upTo,
    limit: limit - near.length,
    seenTypes: seen.map(({ type }) => type),
    seenIds: seen.map(({ id }) => id),
  });
  return fullOr([...near, ...far], upTo);
}
