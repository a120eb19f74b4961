/** Statements of the transcript file. */
import { type Queryable, statement } from '#libs/orm';
import type { TranscriptRow } from './rules.ts';

const selectPage = statement(
  'transcript.page',
  `select start_us, position, person_id, text from transcript_rows
   where conversation_id = $1 and (start_us, position) > ($2::bigint, $3::integer) order by start_us, position limit $4`,
);

const selectSpoke = statement('transcript.spoke', 'select 1 from transcript_rows where conversation_id = $1 and person_id = $2 limit 1');

const rowsPerPage = 2_000;

const minBigint = '-9223372036854775808';

/** The rows in stored order, page by page: no connection is held while a slow reader takes its time. */
export async function* readTranscript(db: Queryable, conversationId: number): AsyncGenerator<TranscriptRow[]> {
  let after: { start_us: number | string; position: number } = { start_us: minBigint, position: 0 };
  for (;;) {
    const params = [conversationId, after.start_us, after.position, rowsPerPage];
    const page = await db.query<{ start_us: number; position: number; person_id: number; text: string }>(selectPage, params);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.map((row) => ({ startUs: row.start_us, personId: row.person_id, text: row.text }));
    if (page.length < rowsPerPage) return;
    after = last;
  }
}

/** True when rows of the conversation are attributed to this id. */
export async function hasUtterances(db: Queryable, conversationId: number, personId: number): Promise<boolean> {
  return (await db.query(selectSpoke, [conversationId, personId])).length > 0;
}
