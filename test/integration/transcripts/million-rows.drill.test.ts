import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contextFor, streamArtifact, waitFor } from '#libs/product/testing';
import { transcripts } from '#services/transcripts';
import { findFreePort } from '../../../libs/product/servers/ports.ts';
import { startServiceProcess, type ServiceProcess } from '../../../libs/product/servers/service-process.ts';
import { sized } from '../../drill.ts';
import { row, startTranscriptFixture, type TranscriptFixture } from './fixture.ts';

const mebibyte = 1_048_576;
/** In the full form the artifact has 288 MB, which would exceed the memory limit if it were loaded into memory. */
const rowCount = sized({ smoke: 20_000, release: 1_000_000 });
/** The number of rows of the import during which the importer is killed. */
const killedRows = sized({ smoke: 20_000, release: 100_000 });
const accepted = rowCount * 0.9;
const importTimeoutMs = 600_000;

let fixture: TranscriptFixture;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'million-'));
  fixture = await startTranscriptFixture(import.meta.url, {}, { runsImporter: false });
});
afterAll(async () => {
  await fixture.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts the importer as a separate process, as in production. */
async function startImporter(): Promise<ServiceProcess> {
  const env = { ...fixture.settings, METRICS_PORT: String(await findFreePort()) };
  const service = await startServiceProcess({
    repoDir: process.cwd(),
    name: 'transcripts',
    logFile: join(folder, 'transcripts.log'),
    env,
  });
  await waitFor(async () => (await service.readReadiness()) === undefined, { what: 'the transcripts service' });
  return service;
}

/** Returns the peak resident memory of the process in bytes (Linux). */
function readPeakBytes(service: ServiceProcess): number {
  const status = readFileSync(`/proc/${service.identity?.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Returns a row. One row in ten is outside the window of four minutes, and there are eight speakers. */
const makeRow = (index: number): object => {
  const start = index % 10 === 0 ? 0 : 60_000 + (index % 239_000);
  const text = `Sentence number ${index} says something of usual length, so that the artifact is as large as real ones.`;
  return row(start, start + 500, text, `cpi-${index % 8}`, `Speaker ${index % 8}`) as object;
};

describe('import of hundreds of thousands of rows (rules/transcripts#import-evidence; architecture#a-recorded-meeting)', () => {
  it(
    'imports hundreds of thousands of rows with less than 200 MB of memory, and stores every accepted row once',
    async () => {
      const service = await startImporter();
      try {
        const { id } = await fixture.meet({
          artifact: { stream: () => streamArtifact(rowCount, makeRow), contentType: 'application/json' },
        });
        const startedMs = performance.now();
        const evidence = await fixture.becomes(id, 'imported', importTimeoutMs);
        const peakBytes = readPeakBytes(service);
        process.stderr.write(
          `${rowCount} rows: ${Math.round((evidence.artifact?.bytes ?? 0) / mebibyte)} MiB in ${Math.round((performance.now() - startedMs) / 1000)} s, peak ${Math.round(peakBytes / mebibyte)} MiB\n`,
        );
        expect(peakBytes).toBeLessThan(200_000_000);
        expect(evidence.counts).toMatchObject({
          raw: rowCount,
          accepted,
          installedSegments: accepted,
          excludedByReason: { before_window_start: rowCount - accepted },
        });
        const [stored] = await fixture.env.sql<{ rows: number; texts: number }>(
          'select count(*)::integer as rows, count(distinct text)::integer as texts from transcripts.transcript_rows where conversation_id = $1',
          [id],
        );
        expect(stored).toEqual({ rows: accepted, texts: accepted });
        // Rows are indexed for search while they are stored (T2).
        for (const format of ['json', 'vtt'] as const) expect(await countLines(id, format)).toBe(accepted);
        expect(readPeakBytes(service)).toBeLessThan(256_000_000);
      } finally {
        await service.stop();
      }
    },
    importTimeoutMs + 60_000,
  );

  it('stores no incomplete data after a kill -9 during an import, and imports every row once in the next process', async () => {
    const rows = killedRows;
    let service = await startImporter();
    try {
      const { id } = await fixture.meet({ artifact: { stream: () => streamArtifact(rows, makeRow) } });
      const downloads = (): number =>
        fixture.provider.requests.filter((request) => request.point === 'download').length;
      const before = downloads();
      // The import downloads the artifact twice and stores the rows of the second download.
      await waitFor(() => downloads() >= before + 1 && writesRows(), {
        timeoutMs: 120_000,
        what: 'rows under way',
        intervalMs: 5,
      });
      service.kill('SIGKILL');
      await service.ended;
      expect(await fixture.evidence(id).catch(() => 'nobody answers')).toBe('nobody answers');
      expect(
        await fixture.env.sql('select 1 from transcripts.transcript_rows where conversation_id = $1 limit 1', [id]),
      ).toEqual([]);
      expect(
        await fixture.env.sql('select 1 from transcripts.import_evidence where conversation_id = $1', [id]),
      ).toEqual([]);
      await fixture.env.sql(
        `update transcripts.jobs set lease_until = now() - interval '1 second' where state = 'running'`,
      );
      service = await startImporter();
      const end = Date.now() + importTimeoutMs;
      while (Date.now() < end) {
        await fixture.jobs.makeDue();
        if (await fixture.becomes(id, 'imported', 500).catch(() => undefined)) break;
      }
      expect((await fixture.evidence(id)).counts).toMatchObject({
        raw: rows,
        accepted: rows * 0.9,
        installedSegments: rows * 0.9,
      });
      const [stored] = await fixture.env.sql<{ rows: number }>(
        'select count(*)::integer as rows from transcripts.transcript_rows where conversation_id = $1',
        [id],
      );
      expect(stored?.rows).toBe(rows * 0.9);
    } finally {
      await service.stop();
    }
  }, 300_000);
});

/** Counts the rows of a streamed transcript. The test also needs only constant memory (T1). */
async function countLines(id: number, format: 'json' | 'vtt'): Promise<number> {
  const { render } = transcripts.rpcs;
  const reply = await fixture.bus.callRaw(render, { conversation_id: id, format }, contextFor(render));
  if (reply.kind !== 'stream') throw new Error('one message');
  let count = 0;
  let rest = '';
  for await (const chunk of reply.chunks) {
    const parts = (rest + Buffer.from(chunk).toString('latin1')).split('Sentence number ');
    count += parts.length - 1;
    rest = (parts.at(-1) ?? '').slice(-15);
  }
  return count;
}

/** Returns whether a transaction of the importer is writing rows. */
async function writesRows(): Promise<boolean> {
  const found = await fixture.env.sql(
    `select 1 from pg_stat_activity where datname = current_database() and application_name = 'transcripts' and query like '%insert into transcript_rows%' and xact_start is not null`,
  );
  return found.length > 0;
}
