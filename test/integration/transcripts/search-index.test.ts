import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase } from '#libs/orm';
import { contextFor, quickJobs, startService, waitFor } from '#libs/testing';
import { transcripts } from '#services/transcripts';
import { seeWriters } from '../../../services/transcripts/search/statements/index-rows.ts';
import { setStage, type Stage } from './stage.ts';

let stage: Stage;
let service: { stop(): Promise<void> };
beforeAll(async () => {
  stage = await setStage(import.meta.url, { runsImporter: false });
  service = await startService('transcripts', stage.env, stage.settings, { tuning: quickJobs, indexTurnMs: 0 });
});
afterAll(() => stage.stop());

describe('transcripts.index-transcripts (T3)', () => {
  it('leaves what its turn is too short for to another job, and everything is found', async () => {
    const ids: number[] = [];
    for (let count = 0; count < 3; count++) ids.push((await stage.meet({ isRecorded: false, window: {} })).id);
    const { installLegacy } = transcripts.rpcs;
    const items = ids.map((id) => ({
      conversation_id: id,
      rows: [{ start_ms: 0, end_ms: 1, person_id: null, speaker: 'Gwen', text: 'a tapir' }],
    }));
    await stage.bus.call(installLegacy, { items, dry_run: false }, contextFor(installLegacy));
    const found = await waitFor(
      async () => {
        const rows = await stage.env.sql<{ id: number }>(
          `select conversation_id as id from transcripts.search_segments where words @@ 'tapir' order by 1`,
        );
        return rows.length === ids.length ? rows.map(({ id }) => id) : undefined;
      },
      { what: 'the index' },
    );
    expect(found).toEqual(ids.toSorted((left, right) => left - right));
    const jobs = await stage.env.sql<{ left: string }>(
      `select (payload -> 'conversation_ids')::text as left from transcripts.jobs where type = 'transcripts.index-transcripts' order by id`,
    );
    expect(jobs.map((job) => JSON.parse(job.left) as unknown)).toEqual([ids, ids.slice(1), ids.slice(2)]);
  });

  it('hides what was deleted or restricted, and forgets what went for good, while no replica ran and no event was kept (D97)', async () => {
    const ids: number[] = [];
    for (let count = 0; count < 3; count++) ids.push((await stage.meet({ isRecorded: false, window: {} })).id);
    const [left = 0, deleted = 0, gone = 0] = ids;
    const rows = [{ start_ms: 0, end_ms: 1, person_id: null, speaker: 'Gwen', text: 'a quokka' }];
    const { installLegacy } = transcripts.rpcs;
    const items = ids.map((id) => ({ conversation_id: id, rows }));
    await stage.bus.call(installLegacy, { items, dry_run: false }, contextFor(installLegacy));
    const known = () =>
      stage.env.sql<{ id: number; people: number[] }>(
        'select conversation_id as id, participant_ids as people from transcripts.search_conversations where conversation_id = any($1) order by 1',
        [ids],
      );
    await waitFor(async () => (await known()).length === 3);
    await service.stop();
    // As if every event about it were gone.
    await stage.env.sql('update conversations.all_conversations set deleted_at = now(), deletion = $2 where id = $1', [
      deleted,
      '{"reason":"operator","by":"test"}',
    ]);
    await stage.env.sql('delete from conversations.all_conversations where id = $1', [gone]);
    const leave = 'update conversations.all_conversations set participant_ids = $2, updated_at = now() where id = $1';
    await stage.env.sql(leave, [left, []]);
    service = await startService('transcripts', stage.env, stage.settings, { tuning: quickJobs });
    await waitFor(async () => JSON.stringify(await known()) === JSON.stringify([{ id: left, people: [] }]));
    const kept = await stage.env.sql<{ id: number }>(
      'select distinct conversation_id as id from transcripts.transcript_rows where conversation_id = any($1) order by 1',
      [ids],
    );
    expect(kept.map(({ id }) => id)).toEqual([left, deleted].toSorted((one, other) => one - other));
  });

  it('sees that rows are written, in whatever process and as long as they are', async () => {
    const db = await createDatabase({
      url: stage.env.settings['DATABASE_URL'] ?? '',
      schema: 'transcripts',
      poolSize: 2,
      logger: stage.env.logger,
      applicationName: 'writer',
    });
    try {
      const isWritten = async (): Promise<boolean> => (await seeWriters(db)).writing;
      expect(await isWritten()).toBe(false);
      await db.transaction(async (tx) => {
        await tx.query({ name: 'test.read', text: 'select count(*) from transcripts.transcript_rows' });
        expect(await isWritten()).toBe(false);
        await tx.query({ name: 'test.write', text: 'delete from transcripts.transcript_rows where false' });
        expect(await isWritten()).toBe(true);
      });
      expect(await isWritten()).toBe(false);
    } finally {
      await db.close();
    }
  });
});
