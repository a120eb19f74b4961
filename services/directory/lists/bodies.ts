/**
 * Reply bodies that PostgreSQL builds: their bytes are passed on, and compared with `If-Match` (rules/http#etag; I2).
 */
import { AppError, notFound } from '#libs/errors';
import { entityTag, matchesEntityTag } from '#libs/etag';
import { rawJson, type RawJson } from '#libs/nats';
import { t } from '#libs/sql';

/** Row of a statement that builds the reply body. */
export const bodyRow = { body: t.text };

/** Passes the body on. @throws AppError not_found when there is no row or the body is null */
export function bodyOf(row: { readonly body: string | null } | undefined): RawJson {
  if (typeof row?.body !== 'string') throw notFound();
  return rawJson(row.body);
}

/** Call with the resource locked. @throws AppError 412 when the resource has another entity tag */
export async function checkIfMatch(
  header: string | null | undefined,
  read: () => Promise<{ readonly body: string } | undefined>,
): Promise<void> {
  if (header === null || header === undefined) return;
  const now = await read();
  if (now !== undefined && matchesEntityTag(header, entityTag(now.body), 'strong')) return;
  throw new AppError({ code: 'precondition_failed', message: 'If-Match does not match the current representation.' });
}
