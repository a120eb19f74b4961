/** What the alert on late transcripts counts (design, Retrieval: a complete window without imported evidence after two hours). */
import { statement, type Database } from '#libs/orm';

const countOverdue = statement(
  'imports.overdue',
  `with recent as (
     select (payload->>'conversation_id')::integer as conversation_id from jobs
     where state <> 'succeeded' and type = 'transcripts.transcript-import'
       and alive_since between now() - interval '8 days' and now() - interval '2 hours'
     union
     select conversation_id from import_evidence
     where status in ('transcript_window_empty', 'install_refused_or_incomplete')
       and recorded_at between now() - interval '8 days' and now() - interval '2 hours'
   )
   select count(*)::integer as overdue from recent r
   where not exists (select from import_evidence e where e.conversation_id = r.conversation_id and e.status = 'imported')`,
);

/** Conversations of the last days whose import is late. */
export async function countOverdueImports(db: Database): Promise<number> {
  const [row] = await db.query<{ overdue: number }>(countOverdue);
  return row?.overdue ?? 0;
}
