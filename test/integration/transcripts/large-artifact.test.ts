import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase } from '#libs/orm';
import { streamArtifact } from '#libs/testing';
import { countOverdueImports } from '../../../services/transcripts/import/statements.ts';
import { row, setStage, type Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage(import.meta.url);
});
afterEach(() => stage.provider.clearFaults());
afterAll(() => stage.stop());

const minute = 60_000;
/** Large enough to be downloaded twice. */
const rowCount = 25_000;
const makeRow = (index: number): object =>
  row(minute + index, minute + index + 1, `Sentence ${index} ${'of many words '.repeat(6)}`) as object;

function downloads(): number {
  return stage.provider.requests.filter((request) => request.place === 'download').length;
}

function storedRows(id: number): Promise<unknown[]> {
  return stage.env.sql('select 1 from transcripts.transcript_rows where conversation_id = $1', [id]);
}

describe('an artifact that is read twice (architecture#a-recorded-meeting; D26a)', () => {
  it('is stored from a second download of the same bytes', async () => {
    const before = downloads();
    const { id } = await stage.meet({ artifact: { stream: () => streamArtifact(rowCount, makeRow) } });
    const evidence = await stage.becomes(id, 'imported');
    const hash = createHash('sha256');
    for (const part of streamArtifact(rowCount, makeRow)) hash.update(part);
    expect(evidence).toMatchObject({
      artifact: { sha256: hash.digest('hex') },
      counts: { raw: rowCount, accepted: rowCount, installedSegments: rowCount },
    });
    expect(downloads() - before).toBe(2);
  });

  it('stores nothing when the second download is not what the first one was, and imports when both agree', async () => {
    let calls = 0;
    const changing = (): Iterable<string> => {
      calls += 1;
      const extra = calls === 2 ? 'changed' : '';
      return streamArtifact(rowCount, (index) =>
        index === rowCount - 1 ? (row(minute, minute + 1, `last ${extra}`) as object) : makeRow(index),
      );
    };
    const { id } = await stage.meet({ artifact: { stream: changing } });
    expect(await stage.jobs.fails(id)).toBe('the transcript changed while it was read');
    expect([await storedRows(id), (await stage.evidence(id)).status]).toEqual([[], 'never_ran']);
    await stage.jobs.hurry();
    await stage.becomes(id, 'imported');
  });

  it('stores nothing when the second download is cut', async () => {
    const { id, sessionId, recorded } = await stage.meet({
      artifact: { stream: () => streamArtifact(rowCount, makeRow) },
      isRecorded: false,
    });
    stage.provider.addFault('download', { kind: 'slow', delayMs: 1 }, 1);
    stage.provider.addFault('download', { kind: 'cut', afterBytes: 3_000_000 });
    await recorded();
    expect(await stage.jobs.fails(id)).toContain('the exchange failed');
    expect([await storedRows(id), (await stage.evidence(id)).status, sessionId]).toEqual([[], 'never_ran', sessionId]);
    stage.provider.clearFaults();
    await stage.jobs.hurry();
    await stage.becomes(id, 'imported');
  });

  it('is dead when it is larger than the importer accepts', async () => {
    const other = await setStage(import.meta.url, { overrides: { TRANSCRIPT_MAX_BYTES: '1000' } });
    try {
      const { id } = await other.meet({ artifact: { stream: () => streamArtifact(rowCount, makeRow) } });
      await other.jobs.ends(id, 'dead');
      expect(await other.jobs.list(id)).toMatchObject([{ attempts: 1, error: 'the artifact is larger than 1000 bytes' }]);
    } finally {
      await other.stop();
    }
  });
});

describe('metric coherence_transcript_imports_overdue (rules/providers#retrieval)', () => {
  it('counts conversations whose window has been complete for two hours without an imported transcript', async () => {
    const settings = stage.env.settings;
    const db = await createDatabase({
      url: settings['DATABASE_URL'] ?? '',
      schema: 'transcripts',
      poolSize: 1,
      logger: stage.env.logger,
      applicationName: 'test',
    });
    try {
      const { overdue: before } = await countOverdueImports(db);
      const waiting = await stage.meet({});
      const empty = await stage.meet({ artifact: { rows: [] } });
      const good = await stage.meet({ artifact: { rows: [row(minute, minute + 1, 'x')] } });
      await stage.jobs.fails(waiting.id);
      await stage.becomes(empty.id, 'transcript_window_empty');
      await stage.becomes(good.id, 'imported');
      expect(await countOverdueImports(db)).toEqual({ overdue: before });
      await stage.env.sql(`update transcripts.jobs set alive_since = now() - interval '3 hours'`);
      await stage.env.sql(`update transcripts.import_evidence set recorded_at = now() - interval '3 hours'`);
      expect(await countOverdueImports(db)).toEqual({ overdue: before + 2 });
    } finally {
      await db.close();
    }
  });
});
