import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { playBytes, provideFfmpeg, provideTimeoutMs, startService, waitFor } from '#libs/product/testing';
import { startRecordingFixture, atSeconds, type RecordingFixture } from './recording-fixture.ts';
import { framesPerSecond, makeClock, readClock, type Programs } from './talking-clock.ts';

let programs: Programs;
let fixture: RecordingFixture;
let clock: Buffer;
let content: ReturnType<typeof playBytes>;
const seconds = 12;
const oneFrame = 1 / framesPerSecond;

beforeAll(async () => {
  programs = await provideFfmpeg();
  clock = await makeClock(programs, seconds, 4);
  content = playBytes(clock, '"clock"');
  fixture = await startRecordingFixture(import.meta.url, programs);
  await fixture.start();
}, provideTimeoutMs);
afterEach(() => fixture.provider.clearFaults());
afterAll(() => fixture.media.stop());

async function readTrimmed(id: number) {
  const [bytes] = await fixture.stored(id, 'recording_front_trimmed');
  if (bytes === undefined) throw new Error('there is no trimmed recording');
  return readClock(programs, bytes);
}

describe('media.recording-import: the front trim (rules/steps#pipeline-jobs; rules/media#video; D27)', () => {
  it.each([
    ['between two keyframes', 5.3, 'encoded'],
    ['on a keyframe', 8, 'copied'],
    ['right behind the beginning', 0.2, 'encoded'],
    ['just before the end', 11.5, 'encoded'],
  ])(
    'starts the trimmed recording with the frame at the cut, and removes everything before it: %s',
    async (_where, cutSeconds, method) => {
      const { id } = await fixture.meet({ content, cutSeconds });
      const job = await fixture.jobs.waitForState(id);
      expect(job.result).toMatchObject({ status: 'imported', trim: method, cut_seconds: cutSeconds });
      const trimmed = await readTrimmed(id);
      expect(Math.abs(trimmed.firstSeconds - cutSeconds)).toBeLessThanOrEqual(oneFrame + 1e-9);
      expect(trimmed.earliestSeconds).toBeGreaterThanOrEqual(cutSeconds - oneFrame - 1e-9);
      expect(Math.abs(trimmed.durationSeconds - (seconds - cutSeconds))).toBeLessThan(0.3);
      expect(trimmed).toMatchObject({ hasAudio: true, isFastStart: true });
      const [full] = await fixture.stored(id, 'recording_full');
      expect(full?.equals(clock)).toBe(true);
      expect(await fixture.video(id)).toEqual({
        url: expect.stringMatching(new RegExp(`^/media/recordings/${id}/[\\w-]{32}\\.mp4\\?v=`)),
        name: expect.stringMatching(/-trimmed\.mp4$/),
      });
      expect(await fixture.notes(id)).toEqual([
        `recording_import finished: ${clock.byteLength} bytes, ${cutSeconds.toFixed(3)} s cut off (${method})`,
      ]);
    },
  );

  it('stores size and digest of the published recording', async () => {
    const { id } = await fixture.meet({ content, journey: 'plain' });
    const job = await fixture.jobs.waitForState(id);
    const sha256 = createHash('sha256').update(clock).digest('hex');
    expect(job.result).toMatchObject({ size_bytes: clock.byteLength, sha256, trim: 'not_asked_for' });
    expect(
      await fixture.media.env.sql(
        `select size_bytes::int as size, sha256, source from media.blobs where conversation_id = $1`,
        [id],
      ),
    ).toEqual([{ size: clock.byteLength, sha256, source: 'realtimekit' }]);
  });

  it('publishes the full recording if it starts at or after the start of the window, or ends before it', async () => {
    for (const [cutSeconds, trim] of [
      [0, 'not_needed'],
      [-30, 'not_needed'],
      [60, 'outside'],
    ] as const) {
      const { id } = await fixture.meet({ content, cutSeconds });
      expect((await fixture.jobs.waitForState(id)).result).toMatchObject({ trim });
      expect((await fixture.video(id)).name).not.toContain('trimmed');
    }
  });

  it('stores the recording while the window has no start, and trims it without a second download when the window is complete', async () => {
    const { id, writeRoom } = await fixture.meet({ content, cutSeconds: null, journey: 'moving' });
    expect((await fixture.jobs.waitForState(id)).result).toMatchObject({ status: 'imported_untrimmed', thumbnails: 0 });
    const before = await fixture.video(id);
    const downloads = fixture.provider.requests.filter(({ point: place }) => place === 'recording-download').length;
    await writeRoom({ conversationStartedAt: atSeconds(6.1), captureEndedAt: atSeconds(11) });
    await waitFor(async () => (await fixture.jobs.list(id)).length === 2);
    expect((await fixture.jobs.waitForState(id)).result).toMatchObject({
      status: 'imported',
      trim: 'encoded',
      thumbnails: 3,
    });
    expect(fixture.provider.requests.filter(({ point: place }) => place === 'recording-download')).toHaveLength(
      downloads,
    );
    expect(Math.abs((await readTrimmed(id)).firstSeconds - 6.1)).toBeLessThanOrEqual(oneFrame + 1e-9);
    expect((await fixture.video(id)).url).not.toBe(before.url);
  });
});

describe('media.recording-import, run again', () => {
  it('creates no files in a repeated import without changes, and otherwise only the changed ones', async () => {
    const { id } = await fixture.meet({ content, cutSeconds: 5.3, journey: 'moving' });
    expect((await fixture.jobs.waitForState(id)).result).toMatchObject({
      status: 'imported',
      trim: 'encoded',
      thumbnails: 3,
    });
    await waitFor(async () => 'publishing' in (await fixture.infos(id)));
    const files = () =>
      fixture.media.env.sql(
        `select kind, object_key from media.blobs where conversation_id = $1 and retired_at is null and kind <> 'logo' order by id`,
        [id],
      );
    const before = [await files(), await fixture.infos(id)];
    const again = async () => {
      await fixture.jobs.requeue(id);
      return fixture.jobs.waitForState(id);
    };
    expect((await again()).result).toMatchObject({ status: 'unchanged', trim: 'kept' });
    expect([await files(), await fixture.infos(id)]).toEqual(before);
    const room = `room = (room::jsonb || jsonb_build_object('conversationStartedAt', $2::text))`;
    await fixture.media.env.sql(`update conversations.all_conversations set ${room} where id = $1`, [
      id,
      atSeconds(6.1),
    ]);
    expect((await again()).result).toMatchObject({ status: 'imported', trim: 'encoded', thumbnails: 3 });
    expect(Math.abs((await readTrimmed(id)).firstSeconds - 6.1)).toBeLessThanOrEqual(oneFrame + 1e-9);
  });
});

describe('media.recording-import: thumbnails (D18a)', () => {
  it('creates thumbnails from times inside the conversation, publishes them under /media, and stores them in infos.publishing', async () => {
    const { id } = await fixture.meet({ content, cutSeconds: 6, journey: 'moving' });
    await fixture.jobs.waitForState(id);
    const pictures = await fixture.stored(id, 'thumbnail');
    expect(pictures).toHaveLength(3);
    for (const picture of pictures) expect([...picture.subarray(0, 3)]).toEqual([0xff, 0xd8, 0xff]);
    // The pictures are taken at 10 %, 30 % and 50 % of the range from second 6 to second 12.
    const times = await Promise.all(pictures.map(async (picture) => (await readClock(programs, picture)).firstSeconds));
    for (const [index, expected] of [6.6, 7.8, 9].entries())
      expect(Math.abs((times[index] ?? 0) - expected)).toBeLessThanOrEqual(oneFrame + 0.11);
    const { publishing } = await waitFor(async () => {
      const infos = await fixture.infos(id);
      return 'publishing' in infos
        ? (infos as { publishing: { artifacts: { imported_thumbnails: string[] } } })
        : undefined;
    });
    const urls = publishing.artifacts.imported_thumbnails;
    expect(urls).toHaveLength(3);
    for (const url of urls)
      expect(url).toMatch(new RegExp(`^/media/thumbnails/${id}/[\\w-]{32}\\.jpg\\?v=[\\w-]{16}$`));
  });

  it('advances the conversation after the import if the step is configured so, and adds notes for import and step', async () => {
    const { id } = await fixture.meet({ content, cutSeconds: 6, journey: 'moving' });
    await fixture.jobs.waitForState(id);
    await waitFor(async () =>
      (await fixture.media.listNotes(id)).some(
        ({ note_type: type, body }) => type === 'step_change' && body.includes('Import → Review'),
      ),
    );
    expect(await fixture.notes(id)).toEqual([expect.stringMatching(/6\.000 s cut off \(encoded\), 3 thumbnails$/)]);
  });

  it('keeps publishing values that a person wrote', async () => {
    const { id } = await fixture.meet({ content, journey: 'still', status: 'UPLOADING' });
    const { call } = fixture.media;
    const { conversations } = await import('#services/conversations');
    const publishing = { fields: { title: 'Mine' }, artifacts: { other: 1, imported_thumbnails: ['/old'] } };
    await call(conversations.rpcs.patchInfos, { conversation_id: id, infos: { publishing } });
    fixture.provider.setRecording({
      id: (await source(id)) ?? '',
      meetingId: 'm',
      status: 'UPLOADED',
      startedAt: null,
      stoppedAt: null,
      content,
    });
    await fixture.jobs.makeDue();
    await fixture.jobs.waitForState(id);
    const urls = await waitFor(async () => {
      const stored = (await fixture.infos(id))['publishing'] as typeof publishing;
      return stored.artifacts.imported_thumbnails.length === 2 ? stored : undefined;
    });
    expect(urls).toEqual({
      fields: { title: 'Mine' },
      artifacts: { other: 1, imported_thumbnails: [expect.any(String), expect.any(String)] },
    });
  });
});

async function source(id: number): Promise<string | null> {
  const { conversations } = await import('#services/conversations');
  return (await fixture.media.call(conversations.rpcs.getTranscriptSource, { conversation_id: id })).recording_id;
}

describe('media.recording-import without ffmpeg', () => {
  it('marks the job as dead with advice when ffmpeg is missing, and keeps the download for a redrive without the provider', async () => {
    const other = await startRecordingFixture(import.meta.url, programs);
    try {
      const settings = { ...other.media.mediaSettings, ...other.settings };
      const lame = await startService('media', other.media.env, { ...settings, FFMPEG_PATH: '/nowhere/ffmpeg' });
      const { id } = await other.meet({ content, cutSeconds: 8 });
      const dead = await other.jobs.waitForState(id, 'dead');
      expect(dead.error).toMatch(/^ffmpeg was not found. Install it .* or set FFMPEG_PATH/);
      const { media } = await import('#services/media');
      const checks = async () => (await other.media.call(media.rpcs.adminDescribeService, {})).findings;
      expect(await checks()).toEqual([{ name: 'ffmpeg', needed: false, ok: false, detail: dead.error }]);
      await waitFor(async () => (await other.notes(id)).length === 1);
      expect(await other.notes(id)).toEqual([`recording_import failed: ${dead.error}`]);
      await expect(other.video(id)).rejects.toMatchObject({ code: 'not_found' });
      await lame.stop();

      const downloads = other.provider.requests.filter(({ point: place }) => place === 'recording-download').length;
      await other.start();
      expect(await checks()).toEqual([
        { name: 'ffmpeg', needed: false, ok: true, detail: expect.stringMatching(/^ffmpeg version/) },
      ]);
      expect(await other.media.call(media.rpcs.redriveJobs, { ids: [dead.id] })).toMatchObject({ changed: 1 });
      await other.jobs.waitForState(id);
      expect(other.provider.requests.filter(({ point: place }) => place === 'recording-download')).toHaveLength(
        downloads,
      );
      expect((await other.video(id)).name).toContain('trimmed');
    } finally {
      await other.media.stop();
    }
  });
});
