/**
 * Cursors of lists, and lists merged from several services, newest first (P2). Every service returns items after a
 * position; the first items of all results form the page. A position is the sort key of an item instead of an offset,
 * so new items do not shift pages and each item is returned once. A service that did not respond continues at its last
 * position, so none of its items are skipped.
 */

export function encodeCursor(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values), 'utf8').toString('base64url');
}

/** Decodes a cursor. @returns undefined for malformed cursors */
export function decodeCursor(text: string): unknown[] | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  try {
    const values: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(values) ? values : undefined;
  } catch {
    return undefined;
  }
}
/** Sort key of a merged list: `at` descending, then `source` ascending. */
export interface Position {
  /** A text that sorts by time: an ascending id, or an instant of fixed length with an id. */
  readonly at: string;
  readonly source: string;
}

/**
 * Returns where one source continues after a position of the merged list. `inclusive` is true when an item with the
 * same `at` belongs to the next page.
 */
export function cursorFor(source: string, position: Position): { before: string; inclusive: boolean } {
  return { before: position.at, inclusive: source > position.source };
}

/**
 * Returns the first `limit` items of all pages, and the position of the last one if there are more. Each source must
 * return up to `limit + 1` items.
 */
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
 * Returns the sources whose results end before the page does although they may have more items. Each source received a
 * request for `requested` items.
 */
export function findTruncated<Source, Item>(
  parts: ReadonlyMap<Source, readonly Item[]>,
  { requested, limit, positionOf }: { requested: number; limit: number; positionOf: (item: Item) => Position },
): Source[] {
  const all = [...parts.values()].flat().map(positionOf).toSorted(comparePositions);
  const end = all[limit];
  return [...parts].flatMap(([source, part]) => {
    const last = part.at(-1);
    if (last === undefined || part.length < requested) return [];
    return end === undefined || comparePositions(positionOf(last), end) < 0 ? [source] : [];
  });
}

/**
 * Cursor of a merged list: one position for all sources, except sources that did not respond and have separate
 * positions in `late`.
 */
export interface MergedCursor {
  /** `end`: all sources except those in `late` are complete. */
  readonly position: Position | 'beginning' | 'end';
  readonly late: ReadonlyMap<string, Position | 'beginning'>;
}

export const startCursor: MergedCursor = { position: 'beginning', late: new Map() };

const positionIn = ({ position, late }: MergedCursor, source: string): MergedCursor['position'] =>
  late.get(source) ?? position;

/** Returns false when all items of the source were returned. */
export function hasMore(cursor: MergedCursor, source: string): boolean {
  return positionIn(cursor, source) !== 'end';
}

/** Returns the position after which a source continues; undefined when it starts from the beginning. */
export function findPosition(cursor: MergedCursor, source: string): Position | undefined {
  const stand = positionIn(cursor, source);
  return typeof stand === 'string' ? undefined : stand;
}

/**
 * Returns the cursor of the next page.
 * @param page.next position from `mergePages`
 * @param page.missing sources that did not respond
 * @returns undefined when all sources are complete
 */
export function nextCursor(
  cursor: MergedCursor,
  { next, missing }: { next: Position | undefined; missing: readonly string[] },
): MergedCursor | undefined {
  const position = advance(cursor.position, next);
  const late = new Map<string, Position | 'beginning'>();
  for (const source of new Set([...cursor.late.keys(), ...missing])) {
    const before = positionIn(cursor, source);
    const stand = missing.includes(source) ? before : advance(before, next);
    if (stand !== 'end' && !isSame(stand, position)) late.set(source, stand);
  }
  return position === 'end' && late.size === 0 ? undefined : { position, late };
}

/** Returns the position of a source after a page, which has all items of the source up to the end of the page. */
function advance(stand: MergedCursor['position'], next: Position | undefined): MergedCursor['position'] {
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

/** Instant and id as `at` of a position. The length is fixed, so that the texts sort by time. */
export const instantKeyPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d{16}$/;

export function formatInstantKey({ at, id }: { readonly at: string; readonly id: number }): string {
  return `${toMicroseconds(at)} ${String(id).padStart(16, '0')}`;
}

/** Parses an instant key. @returns undefined for an invalid instant or id */
export function parseInstantKey(text: string): { at: string; id: number } | undefined {
  const [at = '', id = ''] = text.split(' ');
  return Number.isNaN(Date.parse(at)) || !Number.isSafeInteger(Number(id)) ? undefined : { at, id: Number(id) };
}

/** Adds a fraction of zero to an instant, which SQL omits. */
export function toMicroseconds(at: string): string {
  return at.includes('.') ? at : at.replace('Z', '.000000Z');
}

/** A list with its name and valid positions. */
export interface ListKind {
  /** Name of the list in its cursors: cursors of other lists are rejected. */
  readonly name: string;
  readonly at: RegExp;
  readonly sources: readonly string[];
}

/** Encodes the cursor of a list with one source. */
export function encodePosition({ name }: Pick<ListKind, 'name'>, { at, source }: Position): string {
  return encodeCursor([name, at, source]);
}

/**
 * Decodes the cursor of a list with one source. @returns undefined for cursors that are malformed or of another list
 */
export function decodePosition(kind: ListKind, text: string): Position | undefined {
  const [list, ...position] = decode(text);
  return list === kind.name ? readPosition(kind, position) : undefined;
}

/** Encodes the cursor of a merged list. Without lagging sources the result equals that of `encodePosition`. */
export function encodeMergedCursor(kind: Pick<ListKind, 'name'>, { position, late }: MergedCursor): string {
  if (late.size === 0 && typeof position !== 'string') return encodePosition(kind, position);
  const write = (stand: MergedCursor['position']) => (typeof stand === 'string' ? stand : [stand.at, stand.source]);
  return encodeCursor([kind.name, write(position), [...late].map(([source, stand]) => [source, write(stand)])]);
}

/** Decodes the cursor of a merged list. @returns undefined for cursors that are malformed or of another list */
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

/** Long enough for one position per service. */
export const maxCursorLength = 1_000;

/** Decodes a cursor. @returns an empty list for malformed cursors */
function decode(text: string): unknown[] {
  return (text.length > maxCursorLength ? undefined : decodeCursor(text)) ?? [];
}

/** Returns the cursor format of the job list for operators (P2). */
export const jobList = (services: readonly string[]): ListKind => ({
  name: 'jobs',
  at: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  sources: services,
});

/** Cursors of the other lists for operators, in the API and the admin CLI (P4, P5). */
export const operatorLists = {
  /** Ids do not collide between the two services: ids of agent messages start at a high value. */
  webhooks: { name: 'webhooks', at: instantKeyPattern, sources: ['agents', 'conversations'] },
  pipelines: { name: 'pipelines', at: /^[1-9]\d{0,9}$/, sources: ['conversations'] },
  threads: { name: 'threads', at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z [1-9]\d{0,15}$/, sources: ['agents'] },
  agents: { name: 'agents', at: /^[A-Za-z0-9_-]{1,100}$/, sources: ['agents'] },
  knowledge: { name: 'agent-knowledge', at: /^\d{1,15}$/, sources: ['agents'] },
} satisfies Readonly<Record<string, ListKind>>;
