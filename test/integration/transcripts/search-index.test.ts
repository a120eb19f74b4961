import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newContext, type Bus } from '#libs/infrastructure/nats';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { contextFor, fastJobTuning, startService, waitFor, waitForLockWait } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { transcripts } from '#services/transcripts';
import { deleteConversationData } from '../../../services/transcripts/clean-up/workers.ts';
import { hasWriters } from '../../../services/transcripts/search/statements/index-rows.ts';
import { refreshAccessFacts } from '../../../services/transcripts/search/index.ts';
import { startTranscriptFixture, type TranscriptFixture } from './fixture.ts';

let fixture: TranscriptFixture;
let service: { stop(): Promise<void> };
let db: Database;
beforeAll(async () => {
  fixture = await startTranscriptFixture(import.meta.url, {}, { runsImporter: false });
  service = await startService('transcripts', fixture.env, fixture.settings, {
    tuning: fastJobTuning,
    maxIndexRunMs: 0,
  });
  db = await createDatabase({
    url: fixture.env.settings['DATABASE_URL'] ?? '',
    schema: 'transcripts',
    poolSize: 2,
    logger: fixture.env.logger,
    applicationName: 'writer',
  });
});
afterAll(async () => {
  await db.close();
  await fixture.stop();
});

describe('transcripts.index-transcripts (T3)', () => {
  it('continues the indexing in another job when the time limit of a job is reached', async () => {
    const ids: number[] = [];
    for (let count = 0; count < 3; count++) ids.push((await fixture.meet({ isRecorded: false, window: {} })).id);
    const { installLegacy } = transcripts.rpcs;
    const items = ids.map((id) => ({
      conversation_id: id,
      rows: [{ start_ms: 0, end_ms: 1, person_id: null, speaker: 'Gwen', text: 'a tapir' }],
    }));
    await fixture.bus.call(installLegacy, { items, dry_run: false }, contextFor(installLegacy));
    const found = await waitFor(
      async () => {
        const rows = await fixture.env.sql<{ id: number }>(
          `select conversation_id as id from transcripts.search_segments where words @@ 'tapir' order by 1`,
        );
        return rows.length === ids.length ? rows.map(({ id }) => id) : undefined;
      },
      { what: 'the index' },
    );
    expect(found).toEqual(ids.toSorted((left, right) => left - right));
    const jobs = await fixture.env.sql<{ left: string }>(
      `select (payload -> 'conversation_ids')::text as left from transcripts.jobs where type = 'transcripts.index-transcripts' order by id`,
    );
    expect(jobs.map((job) => JSON.parse(job.left) as unknown)).toEqual([ids, ids.slice(1), ids.slice(2)]);
  });

  it('hides deleted and restricted conversations, and removes permanently deleted ones, even if no replica received the events (D97)', async () => {
    const ids: number[] = [];
    for (let count = 0; count < 3; count++) ids.push((await fixture.meet({ isRecorded: false, window: {} })).id);
    const [left = 0, deleted = 0, gone = 0] = ids;
    const rows = [{ start_ms: 0, end_ms: 1, person_id: null, speaker: 'Gwen', text: 'a quokka' }];
    const { installLegacy } = transcripts.rpcs;
    const items = ids.map((id) => ({ conversation_id: id, rows }));
    await fixture.bus.call(installLegacy, { items, dry_run: false }, contextFor(installLegacy));
    const known = () =>
      fixture.env.sql<{ id: number; people: number[] }>(
        'select conversation_id as id, participant_ids as people from transcripts.search_conversations where conversation_id = any($1) order by 1',
        [ids],
      );
    await waitFor(async () => (await known()).length === 3);
    await service.stop();
    // The changes are written without events, as if all events had been lost.
    await fixture.env.sql(
      'update conversations.all_conversations set deleted_at = now(), deletion = $2 where id = $1',
      [deleted, '{"reason":"operator","by":"test"}'],
    );
    await fixture.env.sql('delete from conversations.all_conversations where id = $1', [gone]);
    const leave = 'update conversations.all_conversations set participant_ids = $2, updated_at = now() where id = $1';
    await fixture.env.sql(leave, [left, []]);
    service = await startService('transcripts', fixture.env, fixture.settings, { tuning: fastJobTuning });
    await waitFor(async () => JSON.stringify(await known()) === JSON.stringify([{ id: left, people: [] }]));
    const stored = async () => {
      const select =
        'select distinct conversation_id as id from transcripts.transcript_rows where conversation_id = any($1) order by 1';
      return (await fixture.env.sql<{ id: number }>(select, [ids])).map(({ id }) => id);
    };
    await waitFor(
      async () =>
        JSON.stringify(await stored()) === JSON.stringify([left, deleted].toSorted((one, other) => one - other)),
    );
  });

  it('detects uncommitted writes of transcript rows in any process and of any duration', async () => {
    const isWritten = async (): Promise<boolean> => (await hasWriters(db)).writing;
    expect(await isWritten()).toBe(false);
    await db.transaction(async (tx) => {
      await tx.query({ name: 'test.read', text: 'select count(*) from transcripts.transcript_rows' });
      expect(await isWritten()).toBe(false);
      await tx.query({ name: 'test.write', text: 'delete from transcripts.transcript_rows where false' });
      expect(await isWritten()).toBe(true);
    });
    expect(await isWritten()).toBe(false);
  });
});

describe('cached access data of a conversation', () => {
  const removeForGood = async (id: number): Promise<void> => {
    await fixture.env.sql('delete from conversations.all_conversations where id = $1', [id]);
    await db.transaction((tx) => deleteConversationData(tx, id));
  };
  const remove = async (id: number): Promise<void> => {
    const { deleteConversation } = conversations.rpcs;
    await fixture.bus.call(deleteConversation, { conversation_id: id }, contextFor(deleteConversation));
  };

  it.each([
    { what: 'goes for good', removing: removeForGood, waits: 'writer' },
    { what: 'is deleted', removing: remove, waits: 'transcripts' },
  ])(
    'does not restore cached access data when the conversation $what after its owner answered',
    async ({ removing, waits }) => {
      const { id } = await fixture.meet({ isRecorded: false, window: {} });
      const { installLegacy } = transcripts.rpcs;
      const rows = [{ start_ms: 0, end_ms: 1, person_id: null, speaker: 'Gwen', text: 'a numbat' }];
      await fixture.bus.call(
        installLegacy,
        { items: [{ conversation_id: id, rows }], dry_run: false },
        contextFor(installLegacy),
      );
      const kept = () =>
        fixture.env.sql('select participant_ids from transcripts.search_conversations where conversation_id = $1', [
          id,
        ]);
      await waitFor(async () => (await kept()).length === 1);
      let removed: Promise<void> | undefined;
      const call = async () => {
        removed = removing(id);
        await waitForLockWait(fixture.env.sql, waits);
        const facts = { id, start: null, event_id: null, journey_id: null, participant_ids: [fixture.personId] };
        return { items: [{ ...facts, updated_at: '2100-01-01T00:00:00Z' }] };
      };
      await refreshAccessFacts({ bus: { call } as unknown as Bus, db }, [id], newContext());
      await removed;
      await waitFor(async () => (await kept()).length === 0);
    },
  );

  it('removes cached access data of a deleted conversation without a transcript', async () => {
    const { id } = await fixture.meet({ isRecorded: false, window: {} });
    const { installLegacy } = transcripts.rpcs;
    const rows = [{ start_ms: 0, end_ms: 1, person_id: null, speaker: 'Gwen', text: 'a dugong' }];
    await fixture.bus.call(
      installLegacy,
      { items: [{ conversation_id: id, rows }], dry_run: false },
      contextFor(installLegacy),
    );
    const kept = () =>
      fixture.env.sql('select 1 from transcripts.search_conversations where conversation_id = $1', [id]);
    await waitFor(async () => (await kept()).length === 1);
    await fixture.env.sql('delete from transcripts.transcript_rows where conversation_id = $1', [id]);
    await remove(id);
    await waitFor(async () => (await kept()).length === 0);
  });
});
