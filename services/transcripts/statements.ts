/** Statements that several features share. */
import { type Queryable, statement } from '#libs/orm';
import type { StoredSpeaker } from './speaker.ts';

const selectSpeakers = statement(
  'speakers.list',
  'select speaker_key, number, person_id, display_name from speakers where conversation_id = $1',
);

export async function listSpeakers(db: Queryable, conversationId: number): Promise<StoredSpeaker[]> {
  const rows = await db.query<{ speaker_key: string; number: number | null; person_id: number | null; display_name: string | null }>(
    selectSpeakers,
    [conversationId],
  );
  return rows.map((row) => ({ key: row.speaker_key, number: row.number, personId: row.person_id, displayName: row.display_name }));
}
