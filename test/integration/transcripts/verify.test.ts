import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CliOutcome, runCli } from '#libs/testing';
import { row, startTranscriptFixture, sha256, type TranscriptFixture } from './fixture.ts';

let fixture: TranscriptFixture;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verify-'));
  fixture = await startTranscriptFixture(import.meta.url);
});
afterAll(async () => {
  await fixture.stop();
  await rm(folder, { recursive: true, force: true });
});

const minute = 60_000;
const artifact = JSON.stringify([
  row(minute, minute + 1_000, 'In.'),
  row(0, 1_000, 'Before.'),
  row('soon', 1, 'Malformed.'),
  row(9 * minute, 9 * minute + 1, 'After.'),
]);

async function copy(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

const cli = (...args: string[]): Promise<CliOutcome> => runCli(['transcripts', 'verify', ...args], fixture.settings);

describe('transcripts verify (rules/transcripts#import-evidence: a caller can hash its own copy and compare)', () => {
  it('recomputes the evidence from a copy of the artifact, for a given conversation or the one that imported the file', async () => {
    const { id } = await fixture.meet({ artifact: { bytes: artifact } });
    const evidence = await fixture.becomes(id, 'imported');
    const file = await copy('same.json', artifact);
    const named = await cli(file, '--conversation', String(id), '--json');
    expect(named.code).toBe(0);
    const result = JSON.parse(named.stdout) as Record<string, unknown>;
    expect(result).toEqual({
      conversation_id: id,
      status: 'imported',
      matches: true,
      copy: {
        sha256: sha256(artifact),
        bytes: artifact.length,
        counts: { raw: 4, accepted: 1, excludedByReason: { ...evidence.counts?.excludedByReason } },
      },
      evidence,
      differences: [],
    });
    const found = await cli(file, '--json');
    expect([found.code, JSON.parse(found.stdout)]).toEqual([0, [result]]);
    expect((await cli(file)).stdout).toContain(
      'the file matches the import and its evidence: 4 rows, 1 inside the window',
    );
  });

  it('lists every field of the evidence in which a file differs, and exits with status 1', async () => {
    const { id } = await fixture.meet({ artifact: { bytes: `${artifact} ` } });
    await fixture.becomes(id, 'imported');
    const other = await copy('other.json', JSON.stringify([row(0, 1_000, 'Before.')]));
    const result = await cli(other, '--conversation', String(id), '--json');
    expect(result.code).toBe(1);
    const fields = (JSON.parse(result.stdout) as { differences: { field: string }[] }).differences.map(
      (item) => item.field,
    );
    expect(fields).toEqual([
      'artifact.sha256',
      'artifact.bytes',
      'counts.raw',
      'counts.accepted',
      'counts.excludedByReason.transcript_timestamp_malformed',
      'counts.excludedByReason.after_window_end',
    ]);
    expect((await cli(other)).stderr).toContain('No conversation imported this file');
  });

  it('reports missing evidence, and a conversation, file or transcript that does not exist', async () => {
    const { id } = await fixture.meet({ isRecorded: false });
    const file = await copy('file.json', '[]');
    expect(await cli(file, '--conversation', String(id))).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('no artifact was imported'),
    });
    expect(await cli(file, '--conversation', '999999999')).toMatchObject({
      code: 1,
      stderr: 'There is no transcript import of conversation 999999999.\n',
    });
    expect(await cli(join(folder, 'absent.json'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be read'),
    });
    const imported = await fixture.meet({ artifact: { bytes: artifact } });
    await fixture.becomes(imported.id, 'imported');
    const garbage = await copy('garbage.txt', 'no transcript');
    expect(await cli(garbage, '--conversation', String(imported.id))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the artifact cannot be read'),
    });
  });
});
