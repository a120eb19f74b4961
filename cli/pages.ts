/** Reads lists of the HTTP APIs, whose pages are smaller than `--limit` allows. */
import { AppError } from '#libs/infrastructure/errors';
import { CliError } from './failure.ts';

export interface Page<Item> {
  readonly items: Item[];
  /** Cursor of the next page; null at the end. */
  readonly next: string | null;
  /** Services whose items are missing. */
  readonly missing?: readonly string[];
}

/** Maximum size of a page of the API. */
const maxPage = 200;

/**
 * Reads pages until there are `limit` items, the list ends, or items of a service are missing. @throws CliError for an
 * invalid cursor
 */
export async function readPages<Item>(
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  read: (query: { limit: number; cursor?: string }) => Promise<Page<Item>>,
): Promise<Page<Item>> {
  const items: Item[] = [];
  for (let start = cursor; ;) {
    const query = { limit: Math.min(limit - items.length, maxPage), ...(start === undefined ? {} : { cursor: start }) };
    const { next, missing = [], ...page } = await read(query).catch(describeBadCursor);
    items.push(...page.items);
    if (next === null || missing.length > 0 || items.length >= limit) return { items, next, missing };
    start = next;
  }
}

function describeBadCursor(error: unknown): never {
  if (!(error instanceof AppError) || error.reason !== 'bad_cursor') throw error;
  throw new CliError('--cursor must be a cursor printed by the previous page.', 'usage');
}

/** Returns the line that a list ends with. */
export const describeNext = ({ next }: Pick<Page<unknown>, 'next'>): string[] =>
  next === null ? [] : [`More results: --cursor ${next}`];

/**
 * @param done result without these services, for `--json`
 * @throws CliError when services did not reply
 */
export function requireAll(
  missing: readonly string[] | undefined,
  summary = '',
  details?: Readonly<Record<string, unknown>>,
): void {
  if (missing === undefined || missing.length === 0) return;
  const again = details === undefined ? '' : '. You can safely run the command again.';
  const text = `${summary}No reply from ${missing.join(', ')}${again}`;
  throw new CliError(text, 'unavailable', details === undefined ? undefined : { ...details, missing });
}
