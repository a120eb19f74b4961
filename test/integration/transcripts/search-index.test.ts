import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase } from '#libs/orm';
import { contextFor, quickJobs, startService, waitFor } from '#libs/testing';
import { transcripts } from '#services/transcripts';
import { seeWriters } from '../../../services/transcripts/search/statements/index-rows.ts';
import { setStage, type Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage(import.meta.url, { runsImporter: false });
});
afterAll(() => stage.stop());

describe('transcripts.index-transcripts (T3)', () => {
  it('leaves what its turn is too short for to another job, and everything is found', async () => {
    await startService('transcripts', stage.env, stage.settings, { tuning: quickJobs, indexTurnMs: 0 });
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
