/**
 * One list out of the lists of several services, newest first, page by page (P2): each service is asked for what comes behind a position, and
 * the first of all that is the page. A position is an item, not a count, so what arrives between two pages moves nothing: every item that was
 * there for the first page comes once. A service that does not answer is read on later from where it stood, so that nothing of it is lost.
 */

export function encodeCursor(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values), 'utf8').toString('base64url');
}

/** @returns undefined for what is no list of values */
export function decodeCursor(text: string): unknown[] | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  try {
    const values: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(values) ? values : undefined;
  } catch {
    return undefined;
  }
}
/** What orders items: the newest first by `at`, equal ones by `source`. */
export interface Position {
  /** Text whose order is that of time: ids that grow, or instants of one length with an id. */
  readonly at: string;
  readonly source: string;
}

/** Where the page of one source begins, behind a position of the whole list; `inclusive` = what stands at that very place belongs to it. */
export function cursorFor(source: string, position: Position): { before: string; inclusive: boolean } {
  return { before: position.at, inclusive: source > position.source };
}

/** The first `limit` items of the pages of the sources, each of which has one item more than that when there are more. */
export function mergePages<Item>(
  pages: readonly (readonly Item[])[],
  { limit, positionOf }: { limit: number; positionOf: (item: Item) => Position },
): { items: Item[]; next: Position | undefined } {
  const all = pages.flat().toSorted((left, right) => comparePositions(positionOf(left), positionOf(right)));
  const items = all.slice(0, limit);
  const last = all.length > limit ? items.at(-1) : undefined;
  return { items, next: last === undefined ? undefined : positionOf(last) };
}

/**
 * Of sources that were asked for `asked` items each, fewer than the page has: those whose part ends before the page does, and who may have more.
 */
export function findTruncated<Source, Item>(
  parts: ReadonlyMap<Source, readonly Item[]>,
  { asked, limit, positionOf }: { asked: number; limit: number; positionOf: (item: Item) => Position },
): Source[] {
  const all = [...parts.values()].flat().map(positionOf).toSorted(comparePositions);
  const end = all[limit];
  return [...parts].flatMap(([source, part]) => {
    const last = part.at(-1);
    if (last === undefined || part.length < asked) return [];
    return end === undefined || comparePositions(positionOf(last), end) < 0 ? [source] : [];
  });
}

/** How far a reader has come: behind one position in all sources, but for late ones, which did not answer and stand where they stood. */
export interface MergedCursor {
  /** `end`: those that are not late have told everything. */
  readonly position: Position | 'beginning' | 'end';
  readonly late: ReadonlyMap<string, Position | 'beginning'>;
}

export const startCursor: MergedCursor = { position: 'beginning', late: new Map() };

const standOf = ({ position, late }: MergedCursor, source: string): MergedCursor['position'] => late.get(source) ?? position;

/** False for a source that has told everything. */
export function hasMore(place: MergedCursor, source: string): boolean {
  return standOf(place, source) !== 'end';
}

/** Behind what a source is read on; undefined = from its beginning. */
export function findPosition(place: MergedCursor, source: string): Position | undefined {
  const stand = standOf(place, source);
  return typeof stand === 'string' ? undefined : stand;
}

/**
 * Where the page after one begins.
 * @param page.next of `mergePages`
 * @param page.missing sources that were asked and did not answer
 * @returns undefined when every source has told everything
 */
export function nextCursor(
  place: MergedCursor,
  { next, missing }: { next: Position | undefined; missing: readonly string[] },
): MergedCursor | undefined {
  const position = goOn(place.position, next);
  const late = new Map<string, Position | 'beginning'>();
  for (const source of new Set([...place.late.keys(), ...missing])) {
    const before = standOf(place, source);
    const stand = missing.includes(source) ? before : goOn(before, next);
    if (stand !== 'end' && !isSame(stand, position)) late.set(source, stand);
  }
  return position === 'end' && late.size === 0 ? undefined : { position, late };
}

/** Of what a source had behind its place everything before the end of the page is on the page. */
function goOn(stand: MergedCursor['position'], next: Position | undefined): MergedCursor['position'] {
  if (stand === 'end' || next === undefined) return 'end';
  return stand === 'beginning' || comparePositions(stand, next) < 0 ? next : stand;
}

function isSame(left: MergedCursor['position'], right: MergedCursor['position']): boolean {
  if (typeof left === 'string' || typeof right === 'string') return left === right;
  return comparePositions(left, right) === 0;
}

function comparePositions(left: Position, right: Position): number {
  if (left.at !== right.at) return left.at < right.at ? 1 : -1;
  return left.source < right.source ? -1 : Number(left.source > right.source);
}

/** An instant with a number of a series as `at` of a position: each has one length, so that their order is that of texts. */
export const instantKeyPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d{16}$/;

export function formatInstantKey({ at, id }: { readonly at: string; readonly id: number }): string {
  return `${toMicroseconds(at)} ${String(id).padStart(16, '0')}`;
}

/** @returns undefined for an instant or a number that there is not */
export function parseInstantKey(text: string): { at: string; id: number } | undefined {
  const [at = '', id = ''] = text.split(' ');
  return Number.isNaN(Date.parse(at)) || !Number.isSafeInteger(Number(id)) ? undefined : { at, id: Number(id) };
}

/** Instants as SQL writes them leave out a fraction of zero. */
export function toMicroseconds(at: string): string {
  return at.includes('.') ? at : at.replace('Z', '.000000Z');
}

/** What a list takes for a position of its own. */
export interface ListKind {
  /** Told apart from other lists: a cursor of one is none of another. */
  readonly name: string;
  readonly at: RegExp;
  readonly sources: readonly string[];
}

/** A position as clients hand it back. */
export function encodePosition({ name }: Pick<ListKind, 'name'>, { at, source }: Position): string {
  return encodeCursor([name, at, source]);
}

/** @returns undefined for what is no cursor of this list */
export function decodePosition(kind: ListKind, text: string): Position | undefined {
  const [list, ...position] = decode(text);
  return list === kind.name ? readPosition(kind, position) : undefined;
}

/** A place as clients hand it back: a position where nobody is late. */
export function encodeMergedCursor(kind: Pick<ListKind, 'name'>, { position, late }: MergedCursor): string {
  if (late.size === 0 && typeof position !== 'string') return encodePosition(kind, position);
  const write = (stand: MergedCursor['position']) => (typeof stand === 'string' ? stand : [stand.at, stand.source]);
  return encodeCursor([kind.name, write(position), [...late].map(([source, stand]) => [source, write(stand)])]);
}

/** @returns undefined for what is no cursor of this list */
export function decodeMergedCursor(kind: ListKind, text: string): MergedCursor | undefined {
  const reached = decodePosition(kind, text);
  if (reached !== undefined) return { position: reached, late: new Map() };
  const [list, stand, others, ...more] = decode(text);
  const position = stand === 'end' ? stand : readPosition(kind, stand);
  if (list !== kind.name || position === undefined || !Array.isArray(others) || more.length > 0) return undefined;
  const late = new Map<string, Position | 'beginning'>();
  for (const item of others as unknown[]) {
    const [source, own]: unknown[] = Array.isArray(item) ? item : [];
    const from = own === 'beginning' ? own : readPosition(kind, own);
    if (typeof source !== 'string' || !kind.sources.includes(source) || from === undefined) return undefined;
    late.set(source, from);
  }
  return { position, late };
}

function readPosition({ at: pattern, sources }: ListKind, value: unknown): Position | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [at, source] = value as unknown[];
  if (typeof at !== 'string' || !pattern.test(at)) return undefined;
  return typeof source === 'string' && sources.includes(source) ? { at, source } : undefined;
}

/** Room for a place of its own of every service. */
export const maxCursorLength = 1_000;

/** @returns nothing for what nobody has encoded */
function decode(text: string): unknown[] {
  return (text.length > maxCursorLength ? undefined : decodeCursor(text)) ?? [];
}

/** The list of jobs of these services, for operators (P2). */
export const jobList = (services: readonly string[]): ListKind => ({
  name: 'jobs',
  at: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  sources: services,
});

/** The other lists of operators, whose cursors the API gives and takes, and the admin CLI takes too (P4, P5). */
export const operatorLists = {
  /** Ids are of one series: those of messages begin high. */
  webhooks: { name: 'webhooks', at: instantKeyPattern, sources: ['agents', 'conversations'] },
  pipelines: { name: 'pipelines', at: /^[1-9]\d{0,9}$/, sources: ['conversations'] },
  threads: { name: 'threads', at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z [1-9]\d{0,15}$/, sources: ['agents'] },
  agents: { name: 'agents', at: /^[A-Za-z0-9_-]{1,100}$/, sources: ['agents'] },
  knowledge: { name: 'agent-knowledge', at: /^\d{1,15}$/, sources: ['agents'] },
} satisfies Readonly<Record<string, ListKind>>;
