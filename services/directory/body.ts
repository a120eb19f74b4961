/** Statements that make the whole body of an answer: its bytes are passed on as they are. */
import { notFound } from '#libs/errors';
import { rawJson, type RawJson } from '#libs/nats';
import { t } from '#libs/sql';

/** The row of such a statement. */
export const bodyRow = { body: t.text };

/** @throws AppError not_found when there is no row or no body */
export function bodyOf(row: { readonly body: string | null } | undefined): RawJson {
  if (typeof row?.body !== 'string') throw notFound();
  return rawJson(row.body);
}
