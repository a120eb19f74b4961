/**
 * Reply bodies that PostgreSQL builds. Their bytes are returned unchanged and compared with `If-Match`
 * (rules/http#etag; I2).
 */
import { notFound } from '#libs/infrastructure/errors';
import { entityTag, requireTag } from '#libs/infrastructure/etag';
import { rawJson, type RawJson } from '#libs/infrastructure/nats';
import { t } from '#libs/infrastructure/sql';

/** Row of a statement that builds the reply body. */
export const bodyRow = { body: t.text };

/** Returns the body unchanged. @throws AppError not_found when there is no row or the body is null */
export function bodyOf(row: { readonly body: string | null } | undefined): RawJson {
  if (typeof row?.body !== 'string') throw notFound();
  return rawJson(row.body);
}

/**
 * Compares the `If-Match` header with the current body. The caller has locked the resource. @throws AppError 412 when
 * the resource has another entity tag
 */
export async function checkIfMatch(
  header: string | null | undefined,
  read: () => Promise<{ readonly body: string } | undefined>,
): Promise<void> {
  if (header === null || header === undefined) return;
  const now = await read();
  requireTag(header, now === undefined ? undefined : entityTag(now.body));
}
