/** Puts the rows of a bulk import in the place of what conversations have, in batches. */
import type { Tx } from '#libs/orm';
import { leaveGonePeople } from '../person-data/index.ts';
import type { LegacyTranscript } from './rules.ts';
import { clearTranscripts, insertRows, insertSpeakers, saveDigests } from './statements.ts';

const rowsPerStatement = 20_000;

/** Replaces the rows of these conversations. */
export async function installLegacy(tx: Tx, transcripts: readonly LegacyTranscript[]): Promise<void> {
  const ids = transcripts.map(({ conversationId }) => conversationId);
  const filled = transcripts.filter(({ rows }) => rows.length > 0).map(({ conversationId }) => conversationId);
  await clearTranscripts(tx, { ids, filledIds: filled });
  const rows = transcripts.flatMap(({ conversationId: id, rows: own }) => own.map((row) => ({ id, ...row })));
  for (let start = 0; start < rows.length; start += rowsPerStatement) {
    const part = rows.slice(start, start + rowsPerStatement);
    await insertRows(tx, {
      conversationIds: part.map((row) => row.id),
      starts: part.map((row) => row.startUs),
      positions: part.map((row) => row.position),
      ends: part.map((row) => row.endUs),
      personIds: part.map((row) => row.personId),
      texts: part.map((row) => row.text),
    });
  }
  const speakers = transcripts.flatMap(({ conversationId: id, speakers: own }) => own.map((speaker) => ({ id, ...speaker })));
  await insertSpeakers(tx, {
    conversationIds: speakers.map((speaker) => speaker.id),
    keys: speakers.map((speaker) => speaker.key),
    numbers: speakers.map((speaker) => speaker.number),
    personIds: speakers.map((speaker) => speaker.personId),
    displayNames: speakers.map((speaker) => speaker.displayName),
  });
  await leaveGonePeople(tx, ids);
  await saveDigests(tx, { conversationIds: ids, digests: transcripts.map(({ sha256 }) => sha256) });
}
