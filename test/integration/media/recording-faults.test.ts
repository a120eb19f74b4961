/** Recording imports under faults: failing providers, killed processes, waiting jobs. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  playBytes,
  provideFfmpeg,
  provideTimeoutMs,
  startScriptProcess,
  waitFor,
  type Fault,
  type FaultPoint,
  type PlayedContent,
  type ScriptProcess,
} from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { playNoise, startRecordingFixture, type RecordingFixture } from './recording-fixture.ts';
import { makeClock, readClock, type Programs } from './talking-clock.ts';

let programs: Programs;
let fixture: RecordingFixture;
let media: { stop(): Promise<void> };
const mebibyte = 1024 * 1024;
/** Several parts of 5 MiB and a remainder. */
const noise = playNoise(22 * mebibyte + 17);
/** For tests that do not depend on the size. */
const small = playNoise(300_017);
const [sha256, smallSha256] = [digestOf(noise), digestOf(small)];

function digestOf({ read }: PlayedContent): string {
  const digest = createHash('sha256');
  for (const part of read(0)) digest.update(part);
  return digest.digest('hex');
}

beforeAll(async () => {
  programs = await provideFfmpeg();
  fixture = await startRecordingFixture(import.meta.url, programs);
  media = await fixture.start();
}, provideTimeoutMs);
afterEach(() => fixture.provider.clearFaults());
afterAll(() => fixture.media.stop());

const downloads = () => fixture.provider.requests.filter(({ point: place }) => place === 'recording-download');

describe('media.recording-import: provider failures (rules/steps#pipeline-jobs; D7a; rules/providers#realtimekit)', () => {
  const faults: [FaultPoint, Fault, string | RegExp][] = [
    ['recordings', { status: 404 }, 'the meeting provider answered with status 404'],
    ['recordings', { status: 503 }, 'the meeting provider answered with status 503'],
    [
      'recordings',
      { status: 429, headers: { 'retry-after': '7' } },
      'the rate limit of the meeting provider is exceeded',
    ],
    ['recordings', { kind: 'garbage' }, 'invalid response from the meeting provider'],
    ['recording-download', { status: 404 }, 'the recording download answered with status 404'],
    ['recording-download', { status: 500 }, 'the recording download answered with status 500'],
    [
      'recording-download',
      { status: 302, headers: { location: '/elsewhere' } },
      'the recording download answered with status 302',
    ],
    ['recording-download', { kind: 'expired' }, 'the recording download answered with status 403'],
    ['recording-download', { kind: 'cut', afterBytes: 1_000 }, /the exchange failed/],
  ];

  it.each(faults)(
    'publishes no recording after a provider failure, retries and recovers: %s %j',
    async (place, fault, error) => {
      fixture.provider.addFault(place, fault);
      const { id } = await fixture.meet({ content: small, journey: 'plain' });
      const text = await fixture.jobs.waitForError(id);
      expect(text).toEqual(typeof error === 'string' ? error : expect.stringMatching(error));
      expect(text).not.toContain('Signature');
      await expect(fixture.video(id)).rejects.toMatchObject({ code: 'not_found' });
      fixture.provider.clearFaults();
      await fixture.jobs.makeDue();
      expect((await fixture.jobs.waitForState(id)).result).toMatchObject({
        sha256: smallSha256,
        size_bytes: small.sizeBytes,
      });
    },
  );

  it('requests a new download URL when the first has expired, and sends the token only to the API', async () => {
    fixture.provider.addFault('recording-download', { kind: 'expired' }, 1);
    const { id } = await fixture.meet({ content: small, journey: 'plain' });
    expect(await fixture.jobs.waitForState(id)).toMatchObject({ attempts: 1 });
    const asked = fixture.provider.requests
      .filter(({ point: place }) => place === 'recordings' || place === 'recording-download')
      .slice(-4);
    expect(asked.map(({ point: place, authorization }) => [place, authorization])).toEqual([
      ['recordings', `Bearer ${fixture.provider.apiToken}`],
      ['recording-download', undefined],
      ['recordings', `Bearer ${fixture.provider.apiToken}`],
      ['recording-download', undefined],
    ]);
  });

  it('resumes an aborted download after the stored chunks, with the digest of all bytes', async () => {
    fixture.provider.addFault('recording-download', { kind: 'cut', afterBytes: 12 * mebibyte }, 1);
    const before = downloads().length;
    const { id } = await fixture.meet({ content: noise, journey: 'plain' });
    const job = await fixture.jobs.waitForState(id);
    expect([job.attempts, job.result]).toEqual([1, expect.objectContaining({ sha256, size_bytes: noise.sizeBytes })]);
    expect(
      downloads()
        .slice(before)
        .map(({ range }) => range),
    ).toEqual([undefined, `bytes=${10 * mebibyte}-`]);
  });

  it.each([
    ['a server that ignores ranges', { hasRanges: false }],
    ['other bytes under the same recording', { content: { ...noise, etag: '"other"' } }],
  ])('restarts an interrupted download from its start: %s', async (_what, change) => {
    fixture.provider.addFault('recording-download', { kind: 'cut', afterBytes: 12 * mebibyte }, 1);
    fixture.provider.addFault('recording-download', { status: 500 }, 1);
    const { id, play } = await fixture.meet({ content: noise, journey: 'plain' });
    await fixture.jobs.waitForError(id);
    play(change);
    await fixture.jobs.makeDue();
    expect((await fixture.jobs.waitForState(id)).result).toMatchObject({ sha256 });
    expect(await fixture.unfinished(id)).toBe(0);
    expect(await fixture.keys(id)).toHaveLength(1);
  });

  it('discards a download whose length differs from the announced one', async () => {
    const { id, play } = await fixture.meet({ content: noise, journey: 'plain', fileSize: noise.sizeBytes + 1 });
    expect(await fixture.jobs.waitForError(id)).toBe(
      `the recording download has ${noise.sizeBytes} bytes where ${noise.sizeBytes + 1} were expected`,
    );
    expect([await fixture.keys(id), await fixture.unfinished(id)]).toEqual([[], 0]);
    play({ fileSize: null });
    await fixture.jobs.makeDue();
    await fixture.jobs.waitForState(id);
  });

  it.each(['INVOKED', 'RECORDING', 'UPLOADING'])(
    'waits before the import while the recording is %s',
    async (status) => {
      const { id, play } = await fixture.meet({ content: small, journey: 'plain', status });
      expect(await fixture.jobs.waitForError(id)).toBe('the recording is not uploaded yet');
      expect(await fixture.jobs.list(id)).toMatchObject([{ state: 'queued' }]);
      play({ status: 'UPLOADED' });
      await fixture.jobs.makeDue();
      await fixture.jobs.waitForState(id);
    },
  );

  it('marks the job as dead immediately when the provider failed to create the recording, or the file is not a recording', async () => {
    const failed = await fixture.meet({ journey: 'plain', status: 'ERRORED' });
    expect(await fixture.jobs.waitForState(failed.id, 'dead')).toMatchObject({
      attempts: 1,
      error: 'the meeting provider failed to make the recording',
    });
    const playlist = '#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n';
    const strange = await fixture.meet({ content: playBytes(Buffer.from(playlist), '"list"'), cutSeconds: 3 });
    expect(await fixture.jobs.waitForState(strange.id, 'dead')).toMatchObject({
      error: 'ffmpeg cannot read the recording',
    });
    await expect(fixture.video(strange.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('finds a recording without a stored id by its time, and ignores recordings of other meetings', async () => {
    const { id, meetingId } = await fixture.meet({
      journey: 'plain',
      isNamed: false,
      status: 'ERRORED',
      cutSeconds: 60,
    });
    const other = {
      startedAt: '2030-01-15T10:00:00.000Z',
      stoppedAt: '2030-01-15T10:30:00.000Z',
      content: small,
      status: 'UPLOADED',
    };
    fixture.provider.setRecording({ ...other, id: `early-${id}`, meetingId, stoppedAt: '2030-01-15T10:00:30.000Z' });
    fixture.provider.setRecording({ ...other, id: `strange-${id}`, meetingId: 'another meeting' });
    await fixture.jobs.waitForState(id, 'dead');
    fixture.provider.setRecording({ ...other, id: `good-${id}`, meetingId, startedAt: '2030-01-15T10:00:40.000Z' });
    const [job] = await fixture.jobs.list(id);
    await fixture.media.call((await import('#services/media')).media.rpcs.redriveJobs, { ids: [job?.id ?? ''] });
    expect((await fixture.jobs.waitForState(id)).result).toMatchObject({ recording_id: `good-${id}` });
  });

  it('ends the import of a deleted conversation without an error, and stores no files', async () => {
    const { id, play, ...meeting } = await fixture.meet({ content: small, journey: 'plain', status: 'UPLOADING' });
    await fixture.jobs.waitForError(id);
    await meeting.delete();
    play({ status: 'UPLOADED' });
    await fixture.jobs.makeDue();
    expect((await fixture.jobs.waitForState(id)).result).toEqual({ status: 'conversation_gone' });
    expect(await fixture.keys(id)).toEqual([]);
  });

  it('keeps the previous recording when a later import fails', async () => {
    const { id } = await fixture.meet({ content: small, journey: 'plain' });
    await fixture.jobs.waitForState(id);
    const before = await fixture.video(id);
    fixture.provider.setRecording({
      id: `second-${id}`,
      meetingId: 'm',
      status: 'ERRORED',
      startedAt: null,
      stoppedAt: null,
    });
    await fixture.media.call(conversations.rpcs.writeRoom, {
      conversation_id: id,
      write: { recordingId: `second-${id}` },
    });
    await fixture.jobs.requeue(id);
    await fixture.jobs.waitForState(id, 'dead');
    expect(await fixture.video(id)).toEqual(before);
  });
});

describe('media.recording-import: a killed worker (rules/operations#promises)', () => {
  const script = join(import.meta.dirname, 'media-process.ts');
  const env = () => ({
    ...fixture.media.env.settings,
    ...fixture.media.mediaSettings,
    ...fixture.settings,
    MEDIA_UPLOAD_LEASE_SECONDS: '2',
  });
  const startProcess = (): ScriptProcess => {
    const child = startScriptProcess(script, env());
    fixture.media.env.onStop(async () => {
      child.signal('SIGKILL');
      await child.ended;
    });
    return child;
  };

  it('resumes the download of a killed worker, and removes its chunks', async () => {
    await media.stop();
    fixture.provider.addFault('recording-download', { kind: 'stall', afterBytes: 12 * mebibyte }, 1);
    const process = startProcess();
    const { id } = await fixture.meet({ content: noise, journey: 'plain' });
    await waitFor(async () => (await partsOf(id)) === 2, { timeoutMs: 120_000, what: 'two parts' });
    process.signal('SIGKILL');
    await process.ended;
    const before = downloads().length;
    await fixture.jobs.expireLeases();
    media = await fixture.start();
    await fixture.jobs.requeueAfterCrash(id);
    const job = await fixture.jobs.waitForState(id);
    expect(job.result).toMatchObject({ sha256, size_bytes: noise.sizeBytes });
    expect(
      downloads()
        .slice(before)
        .map(({ range }) => range),
    ).toEqual([`bytes=${10 * mebibyte}-`]);
    expect([await fixture.unfinished(id), await fixture.keys(id)]).toEqual([0, [expect.any(String)]]);
  }, 240_000);

  it('repeats the trim of a killed worker, with an empty scratch folder and one recording of each kind', async () => {
    await media.stop();
    const clock = await makeClock(programs, 20, 5);
    const process = startProcess();
    const { id } = await fixture.meet({ content: playBytes(clock, '"clock"'), cutSeconds: 7.4, journey: 'moving' });
    await fixture.jobs.waitForPhase(id, 'trimming');
    process.signal('SIGKILL');
    await process.ended;
    await fixture.jobs.expireLeases();
    media = await fixture.start({ MEDIA_UPLOAD_LEASE_SECONDS: '2' });
    await fixture.jobs.requeueAfterCrash(id);
    await fixture.jobs.waitForState(id);
    const [trimmed] = await fixture.stored(id, 'recording_front_trimmed');
    expect((await readClock(programs, trimmed ?? Buffer.alloc(0))).firstSeconds).toBeCloseTo(7.4, 5);
    await waitFor(async () => (await fixture.keys(id)).length === 5); // The five objects: full recording, trimmed recording, three pictures.
    const folder = fixture.settings['MEDIA_SCRATCH_DIR'] ?? '';
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
  }, 240_000);

  async function partsOf(id: number): Promise<number> {
    const [row] = await fixture.media.env.sql<{ object_key: string }>(
      `select object_key from media.recording_imports where conversation_id = $1`,
      [id],
    );
    return row === undefined ? 0 : ((await fixture.media.store.findUnfinished(row.object_key))?.parts.length ?? 0);
  }
});
