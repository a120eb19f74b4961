import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase } from '#libs/infrastructure/orm';
import { streamArtifact } from '#libs/product/testing';
import { countOverdueImports } from '../../../services/transcripts/import/statements.ts';
import { row, startTranscriptFixture, type TranscriptFixture } from './fixture.ts';

let fixture: TranscriptFixture;
beforeAll(async () => {
  fixture = await startTranscriptFixture(import.meta.url);
});
afterEach(() => fixture.provider.clearFaults());
afterAll(() => fixture.stop());

const minute = 60_000;
/** Large enough to be downloaded in two passes. */
const rowCount = 25_000;
const makeRow = (index: number): object =>
  row(minute + index, minute + index + 1, `Sentence ${index} ${'of many words '.repeat(6)}`) as object;

function downloads(): number {
  return fixture.provider.requests.filter((request) => request.point === 'download').length;
}

function storedRows(id: number): Promise<unknown[]> {
  return fixture.env.sql('select 1 from transcripts.transcript_rows where conversation_id = $1', [id]);
}

describe('an artifact that is downloaded twice (architecture#a-recorded-meeting; D26a)', () => {
  it('imports rows from a second download with the same bytes', async () => {
    const before = downloads();
    const { id } = await fixture.meet({ artifact: { stream: () => streamArtifact(rowCount, makeRow) } });
    const evidence = await fixture.becomes(id, 'imported');
    const hash = createHash('sha256');
    for (const part of streamArtifact(rowCount, makeRow)) hash.update(part);
    expect(evidence).toMatchObject({
      artifact: { sha256: hash.digest('hex') },
      counts: { raw: rowCount, accepted: rowCount, installedSegments: rowCount },
    });
    expect(downloads() - before).toBe(2);
  });

  it('stores no rows when the second download differs from the first, and imports when two downloads match', async () => {
    let calls = 0;
    const changing = (): Iterable<string> => {
      calls += 1;
      const extra = calls === 2 ? 'changed' : '';
      return streamArtifact(rowCount, (index) =>
        index === rowCount - 1 ? (row(minute, minute + 1, `last ${extra}`) as object) : makeRow(index),
      );
    };
    const { id } = await fixture.meet({ artifact: { stream: changing } });
    expect(await fixture.jobs.waitForError(id)).toBe('the transcript changed while it was read');
    expect([await storedRows(id), (await fixture.evidence(id)).status]).toEqual([[], 'never_ran']);
    await fixture.jobs.makeDue();
    await fixture.becomes(id, 'imported');
  });

  it('stores no rows when the second download is truncated', async () => {
    const { id, sessionId, recorded } = await fixture.meet({
      artifact: { stream: () => streamArtifact(rowCount, makeRow) },
      isRecorded: false,
    });
    fixture.provider.addFault('download', { kind: 'slow', delayMs: 1 }, 1);
    fixture.provider.addFault('download', { kind: 'cut', afterBytes: 3_000_000 });
    await recorded();
    expect(await fixture.jobs.waitForError(id)).toContain('the exchange failed');
    expect([await storedRows(id), (await fixture.evidence(id)).status, sessionId]).toEqual([
      [],
      'never_ran',
      sessionId,
    ]);
    fixture.provider.clearFaults();
    await fixture.jobs.makeDue();
    await fixture.becomes(id, 'imported');
  });

  it('marks the job as dead when the artifact exceeds the size limit', async () => {
    const other = await startTranscriptFixture(import.meta.url, { TRANSCRIPT_MAX_BYTES: '1000' });
    try {
      const { id } = await other.meet({ artifact: { stream: () => streamArtifact(rowCount, makeRow) } });
      await other.jobs.waitForState(id, 'dead');
      expect(await other.jobs.list(id)).toMatchObject([
        { attempts: 1, error: 'the artifact is larger than 1000 bytes' },
      ]);
    } finally {
      await other.stop();
    }
  });
});

describe('metric coherence_transcript_imports_overdue (rules/providers#retrieval)', () => {
  it('counts conversations whose window has been complete for two hours without an imported transcript', async () => {
    const settings = fixture.env.settings;
    const db = await createDatabase({
      url: settings['DATABASE_URL'] ?? '',
      schema: 'transcripts',
      poolSize: 1,
      logger: fixture.env.logger,
      applicationName: 'test',
    });
    try {
      const { overdue: before } = await countOverdueImports(db);
      const waiting = await fixture.meet({});
      const empty = await fixture.meet({ artifact: { rows: [] } });
      const good = await fixture.meet({ artifact: { rows: [row(minute, minute + 1, 'x')] } });
      await fixture.jobs.waitForError(waiting.id);
      await fixture.becomes(empty.id, 'transcript_window_empty');
      await fixture.becomes(good.id, 'imported');
      expect(await countOverdueImports(db)).toEqual({ overdue: before });
      await fixture.env.sql(`update transcripts.jobs set alive_since = now() - interval '3 hours'`);
      await fixture.env.sql(`update transcripts.import_evidence set recorded_at = now() - interval '3 hours'`);
      expect(await countOverdueImports(db)).toEqual({ overdue: before + 2 });
    } finally {
      await db.close();
    }
  });
});
