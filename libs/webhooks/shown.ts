/** Receipts that were found by a text in their bodies, as far as these show it: who could look for what is redacted could guess it piece by piece. */
import { redactBody } from '#libs/redaction';
import type { Queryable } from '#libs/sql';
import { decodeBody } from './body.ts';
import { hasForm, type ReceiptSearch } from './search.ts';

export interface ShownText {
  readonly db: Queryable;
  readonly search: Pick<ReceiptSearch, 'bodies'>;
  /** Absent: every receipt is taken. */
  readonly q: string | undefined;
}

/** Place of a receipt in the order of lists. */
interface Place {
  readonly at: string;
  readonly id: number;
}

/** Pages of one answer: of what has a text only in its secrets so many rows are passed over. */
const mostPages = 5;
/** Bodies that are held at once. */
const bodiesAtOnce = 20;

/** Those whose body has the text as it is shown. What is passed over leaves no trace in the answer. */
export async function keepShown<Receipt extends { readonly id: number }>(
  { db, search, q }: ShownText,
  found: readonly Receipt[],
): Promise<readonly Receipt[]> {
  if (q === undefined) return found;
  const shown = new Set<number>();
  for (let from = 0; from < found.length; from += bodiesAtOnce) {
    const ids = found.slice(from, from + bodiesAtOnce).map(({ id }) => id);
    for (const { id, body } of await search.bodies(db, { ids }))
      if (body !== null && hasForm(redactBody(decodeBody(body)), q)) shown.add(id);
  }
  return found.filter(({ id }) => shown.has(id));
}

/** A page of them, newest first; `find` gives at most `limit` that are older than a place. */
export async function collectShown<Receipt extends { readonly id: number; readonly received_at: string }>(
  text: ShownText,
  { limit, before }: { readonly limit: number; readonly before?: Place | undefined },
  find: (before: Place | undefined) => Promise<readonly Receipt[]>,
): Promise<Receipt[]> {
  const items: Receipt[] = [];
  let place = before;
  for (let page = 0; page < mostPages && items.length < limit; page++) {
    const found = await find(place);
    items.push(...(await keepShown(text, found)));
    const last = text.q === undefined || found.length < limit ? undefined : found.at(-1);
    if (last === undefined) break;
    place = { at: last.received_at, id: last.id };
  }
  return items.slice(0, limit);
}
