/** Check for `doctor`: format of the provider's last transcript. CSV rows have no end times, so they are not imported (D86). */
import type { Queryable } from '#libs/infrastructure/sql';
import { findLatestFormat } from './statements.ts';

/** @throws Error when the last transcript was CSV without end times */
export async function checkTranscriptFormat(db: Queryable): Promise<string> {
  const latest = await findLatestFormat(db);
  if (latest === undefined) return 'none imported yet';
  const { conversation_id: id, format, read_at: readAt } = latest;
  if (format === 'csv')
    throw new Error(
      `the latest one, of conversation ${id} (${readAt}), was CSV although JSON was requested. CSV rows have no end times, so ` +
        'nothing was imported. Ask the provider why JSON is not available, then run `conversations import-transcript` again',
    );
  return format === 'json' ? 'JSON' : 'CSV with end times';
}
