/** Makes the words of one transcript searchable. What may not be found is not in the index: what was erased, and rows that lie outside of a window for all we know. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Tx } from '#libs/orm';
import { lockForWriting } from '../evidence/index.ts';
import { erasedText } from '../person-data/contract.ts';
import { writeVector } from './rules/words.ts';
import { clearSegments, findUncut, insertSegments, listNextRows, widenMemory } from './statements/index-rows.ts';

const rowsPerPage = 1_000;

/** Replaces the conversation's words by those of its present rows; nobody changes these meanwhile. */
export async function indexTranscript(tx: Tx, conversationId: number): Promise<void> {
  const isKept = await lockForWriting(tx, conversationId);
  await clearSegments(tx, { ids: [conversationId] });
  if (!isKept || (await findUncut(tx, { conversationId })) !== undefined) return;
  await widenMemory(tx);
  let index = 0;
  for (let after = { afterStart: Number.MIN_SAFE_INTEGER, afterPosition: 0 }; ;) {
    const page = await listNextRows(tx, { conversationId, ...after, limit: rowsPerPage });
    const last = page.at(-1);
    if (last === undefined) return;
    const first = index;
    index += page.length;
    const rows = page.map((row, place) => ({ ...row, index: first + place })).filter(({ text }) => text !== erasedText);
    await insertSegments(tx, {
      conversationId,
      indexes: rows.map((row) => row.index),
      starts: rows.map((row) => row.start_us),
      positions: rows.map((row) => row.position),
      personIds: rows.map((row) => row.person_id),
      vectors: rows.map((row) => writeVector(row.text)),
    });
    if (page.length < rowsPerPage) return;
    after = { afterStart: last.start_us, afterPosition: last.position };
    await nextTurn();
  }
}
