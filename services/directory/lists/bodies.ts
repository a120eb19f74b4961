/** Reply bodies that PostgreSQL builds: their bytes are passed on, and compared with `If-Match` (rules/http#etag; I2). */
import { AppError, notFound } from '#libs/errors';
import { entityTag, matchesEntityTag } from '#libs/etag';
import { rawJson, type RawJson } from '#libs/nats';
import { t } from '#libs/sql';

/** The row of such a statement. */
export const bodyRow = { body: t.text };

/** @throws AppError not_found when there is no row or no body */
export function bodyOf(row: { readonly body: string | null } | undefined): RawJson {
  if (typeof row?.body !== 'string') throw notFound();
  return rawJson(row.body);
}

/** For who holds the lock of the resource. @throws AppError 412 */
export async function checkIfMatch(
  header: string | null | undefined,
  read: () => Promise<{ readonly body: string } | undefined>,
): Promise<void> {
  if (header === null || header === undefined) return;
  const now = await read();
  if (now !== undefined && matchesEntityTag(header, entityTag(now.body), 'strong')) return;
  throw new AppError({ code: 'precondition_failed', message: 'If-Match names another representation than the present one.' });
}
