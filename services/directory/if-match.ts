/** Updates that apply to a resource as their caller has seen it, or not at all (rules/http#etag; I2). */
import { AppError } from '#libs/errors';
import { entityTag, matchesEntityTag } from '#libs/etag';

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
