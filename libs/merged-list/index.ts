/**
 * One list out of the lists of several services, newest first, page by page (P2): each service is asked for what comes behind a position, and
 * the first of all that is the page. A position is an item, not a count, so what arrives between two pages moves nothing: every item that was
 * there for the first page comes once.
 */
import { decodeCursor, encodeCursor } from '#libs/cursor';

/** What orders items: the newest first by `at`, equal ones by `source`. */
export interface Position {
  /** Text whose order is that of time: ids that grow, or instants of one length with an id. */
  readonly at: string;
  readonly source: string;
}

/** Where the page of one source begins, behind a position of the whole list; `inclusive` = what stands at that very place belongs to it. */
export function beginOf(source: string, position: Position): { before: string; inclusive: boolean } {
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

function comparePositions(left: Position, right: Position): number {
  if (left.at !== right.at) return left.at < right.at ? 1 : -1;
  return left.source < right.source ? -1 : Number(left.source > right.source);
}

/** An instant with a number of a series as `at` of a position: each has one length, so that their order is that of texts. */
export const instantPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \d{16}$/;

export function writeInstant({ at, id }: { readonly at: string; readonly id: number }): string {
  return `${toMicroseconds(at)} ${String(id).padStart(16, '0')}`;
}

/** @returns undefined for an instant that there is not */
export function readInstant(text: string): { at: string; id: number } | undefined {
  const [at = '', id = ''] = text.split(' ');
  return Number.isNaN(Date.parse(at)) ? undefined : { at, id: Number(id) };
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

const longest = 400;

/** A position as clients hand it back. */
export function writeCursor({ name }: Pick<ListKind, 'name'>, { at, source }: Position): string {
  return encodeCursor([name, at, source]);
}

/** @returns undefined for what is no cursor of this list */
export function readCursor({ name, at: pattern, sources }: ListKind, text: string): Position | undefined {
  const values = text.length > longest ? undefined : decodeCursor(text);
  if (values?.length !== 3) return undefined;
  const [list, at, source] = values;
  if (list !== name || typeof at !== 'string' || !pattern.test(at)) return undefined;
  return typeof source === 'string' && sources.includes(source) ? { at, source } : undefined;
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
  webhooks: { name: 'webhooks', at: instantPattern, sources: ['webhooks'] },
  pipelines: { name: 'pipelines', at: /^[1-9]\d{0,9}$/, sources: ['conversations'] },
  threads: { name: 'threads', at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z [1-9]\d{0,15}$/, sources: ['agents'] },
  agents: { name: 'agents', at: /^[A-Za-z0-9_-]{1,100}$/, sources: ['agents'] },
  knowledge: { name: 'agent-knowledge', at: /^\d{1,15}$/, sources: ['agents'] },
} satisfies Readonly<Record<string, ListKind>>;

/** An instant and an id, as threads are ordered. @returns undefined for an instant or number that there is not */
export function readThreadPlace(place: string): { at: string; id: number } | undefined {
  const [at = '', id = ''] = place.split(' ');
  return Number.isNaN(Date.parse(at)) || !Number.isSafeInteger(Number(id)) ? undefined : { at, id: Number(id) };
}
