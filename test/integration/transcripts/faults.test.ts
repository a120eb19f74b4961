import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { contextFor, waitFor, type Fault, type FaultPoint } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { row, startTranscriptFixture, type TranscriptFixture } from './fixture.ts';

const { listConversationNotes } = conversations.rpcs;
let fixture: TranscriptFixture;
beforeAll(async () => {
  fixture = await startTranscriptFixture(import.meta.url);
});
afterEach(() => fixture.provider.clearFaults());
afterAll(() => fixture.stop());

const minute = 60_000;
const artifact = { rows: [row(minute, minute + 1_000, 'Welcome.'), row(0, 1_000, 'secretword')] };

describe('no transcript at the provider yet (D7a)', () => {
  it.each([
    ['the meeting is not stored', { hasMeeting: false }, 'the conversation has no meeting yet'],
    ['the provider knows no session', { hasSession: false }, 'the meeting has no session that overlaps the window yet'],
    ['the session has no transcript', {}, 'the meeting provider answered with status 404'],
  ])('keeps the import status never_ran and retries when %s', async (_what, options, error) => {
    const { id, meetingId, sessionId, writeRoom } = await fixture.meet(options);
    expect(await fixture.jobs.waitForError(id)).toBe(error);
    expect(await fixture.evidence(id)).toMatchObject({
      status: 'never_ran',
      failureReason: 'never_ran',
      artifact: null,
      window: null,
      counts: null,
    });
    expect(await fixture.jobs.list(id)).toMatchObject([{ state: 'queued', attempts: 1 }]);
    if ('hasMeeting' in options) await writeRoom({ meetingId });
    if ('hasSession' in options)
      fixture.provider.addSession({ id: sessionId, meetingId, startedAt: '2030-01-15T10:00:00Z', endedAt: null });
    fixture.provider.setArtifact(sessionId, artifact);
    await fixture.jobs.makeDue();
    await fixture.becomes(id, 'imported');
  });

  it('retries an import after at most 30 seconds, later after up to 15 minutes, and is dead after seven days', async () => {
    const { id } = await fixture.meet({});
    const delays: number[] = [];
    for (let attempt = 1; attempt <= 9; attempt++) {
      const [job] = await waitFor(
        async () => {
          const found = await fixture.env.sql<{ wait: number }>(
            `select extract(epoch from run_at - now())::float8 as wait from transcripts.jobs where payload->>'conversation_id' = $1 and attempts = $2 and state = 'queued'`,
            [String(id), attempt],
          );
          return found.length === 1 ? found : undefined;
        },
        { what: `attempt ${attempt}` },
      );
      delays.push(job?.wait ?? 0);
      await fixture.jobs.makeDue();
    }
    expect(delays[0]).toBeLessThan(30);
    for (const [index, delay] of delays.entries()) expect(delay).toBeLessThanOrEqual(Math.min(900, 15 * 2 ** index));
    expect(delays.at(-1)).toBeGreaterThan(440);
    await fixture.env.sql(
      `update transcripts.jobs set alive_since = now() - interval '7 days' where payload->>'conversation_id' = $1`,
      [String(id)],
    );
    await fixture.jobs.makeDue();
    await fixture.jobs.waitForState(id, 'dead');
    expect(await fixture.jobs.list(id)).toMatchObject([{ error: 'the meeting provider answered with status 404' }]);
    const readNotes = () =>
      fixture.bus.call(listConversationNotes, { conversation_id: id }, contextFor(listConversationNotes));
    const note = await waitFor(
      async () => (await readNotes()).items.find(({ note_type: type }) => type === 'system')?.body,
    );
    expect(note).toBe(
      'transcript_import failed: the meeting provider answered with status 404 (given up after 7 days)',
    );
    expect((await fixture.evidence(id)).status).toBe('never_ran');
  });
});

describe('provider failures (D7a; architecture#a-recorded-meeting)', () => {
  const faults: [FaultPoint, Fault, string | RegExp][] = [
    ['sessions', { status: 500 }, 'the meeting provider answered with status 500'],
    ['sessions', { status: 401 }, 'the meeting provider answered with status 401'],
    ['sessions', { kind: 'garbage' }, 'invalid response from the meeting provider'],
    ['sessions', { kind: 'cut', afterBytes: 10 }, /the exchange failed/],
    [
      'sessions',
      { status: 429, headers: { 'retry-after': '7' } },
      'the rate limit of the meeting provider is exceeded',
    ],
    ['transcript', { status: 404 }, 'the meeting provider answered with status 404'],
    ['transcript', { status: 503 }, 'the meeting provider answered with status 503'],
    ['transcript', { kind: 'garbage' }, 'invalid response from the meeting provider'],
    ['download', { status: 404 }, 'the transcript download answered with status 404'],
    [
      'download',
      { status: 302, headers: { location: '/elsewhere' } },
      'the transcript download answered with status 302',
    ],
    ['download', { status: 500 }, 'the transcript download answered with status 500'],
    ['download', { kind: 'expired' }, 'the transcript download answered with status 403'],
    ['download', { kind: 'cut', afterBytes: 50 }, /the exchange failed/],
  ];

  it.each(faults)(
    'keeps the import evidence at a provider failure, and recovers: %s %j',
    async (place, fault, error) => {
      fixture.provider.addFault(place, fault);
      const { id } = await fixture.meet({ artifact });
      const text = await fixture.jobs.waitForError(id);
      expect(text).toEqual(typeof error === 'string' ? error : expect.stringMatching(error));
      expect(text).not.toMatch(/secretword|Signature/);
      expect((await fixture.evidence(id)).status).toBe('never_ran');
      fixture.provider.clearFaults();
      await fixture.jobs.makeDue();
      await fixture.becomes(id, 'imported');
    },
  );

  it('imports no session of another meeting, even if the provider ignores the filter', async () => {
    const session = {
      id: 'stranger',
      associated_id: 'another meeting',
      started_at: '2030-01-15T10:00:00Z',
      ended_at: '2030-01-15T10:10:00Z',
    };
    fixture.provider.addFault('sessions', {
      status: 200,
      body: JSON.stringify({ success: true, data: { sessions: [session] } }),
    });
    const { id } = await fixture.meet({ artifact });
    expect(await fixture.jobs.waitForError(id)).toBe('the meeting has no session that overlaps the window yet');
  });

  it('requests a new download URL when the first has expired', async () => {
    fixture.provider.addFault('download', { kind: 'expired' }, 1);
    const { id } = await fixture.meet({ artifact });
    await fixture.becomes(id, 'imported');
    expect(await fixture.jobs.list(id)).toMatchObject([{ state: 'succeeded', attempts: 1 }]);
  });

  it('waits for the Retry-After of the provider without counting the attempt', async () => {
    fixture.provider.addFault('sessions', { status: 429, headers: { 'retry-after': '7' } });
    const { id } = await fixture.meet({ artifact });
    await fixture.jobs.waitForError(id);
    const [job] = await fixture.env.sql<{ wait: number; attempts: number }>(
      `select extract(epoch from run_at - now())::float8 as wait, attempts from transcripts.jobs where payload->>'conversation_id' = $1`,
      [String(id)],
    );
    expect(job?.attempts).toBe(0);
    expect(job?.wait).toBeGreaterThan(4);
    expect(job?.wait).toBeLessThanOrEqual(7);
  });

  it.each([
    ['no transcript at all', 'this is secretword and no transcript'],
    ['HTML', '<html>secretword</html>'],
    ['an object', '{"secretword":1}'],
    ['nothing', ''],
  ])('marks the import as dead immediately when the artifact is %s, and keeps the evidence', async (_what, bytes) => {
    const { id } = await fixture.meet({ artifact: { bytes } });
    await fixture.jobs.waitForState(id, 'dead');
    const job = await fixture.jobs.latest(id);
    expect(job).toMatchObject({ attempts: 1, error: expect.stringContaining('the artifact cannot be read') });
    expect(job?.error).not.toContain('secretword');
    expect(await fixture.evidence(id)).toMatchObject({ status: 'never_ran', artifact: null });
  });

  it.each([
    ['list', '[{"startTime":1,"sentence":"secretword"'],
    ['CSV', '"1","p","u","c","Ann","secretword'],
  ])('downloads the artifact again when it is a truncated %s (D86)', async (_what, bytes) => {
    const { id, sessionId } = await fixture.meet({ artifact: { bytes } });
    const text = await fixture.jobs.waitForError(id);
    expect(text).toContain('the artifact cannot be read: it ends inside');
    expect(text).not.toContain('secretword');
    expect(await fixture.jobs.list(id)).toMatchObject([{ state: 'queued', attempts: 1 }]);
    expect(await fixture.evidence(id)).toMatchObject({ status: 'never_ran', artifact: null });
    fixture.provider.setArtifact(sessionId, artifact);
    await fixture.jobs.makeDue();
    await fixture.becomes(id, 'imported');
  });

  it('keeps an earlier import when a later artifact cannot be read', async () => {
    const { id, sessionId, writeRoom } = await fixture.meet({ artifact });
    const before = await fixture.becomes(id, 'imported');
    fixture.provider.setArtifact(sessionId, { bytes: 'garbage' });
    await writeRoom({ phase: 'exit-lounge' });
    await fixture.jobs.requeue(id);
    await fixture.jobs.waitForState(id, 'dead');
    expect(await fixture.evidence(id)).toEqual(before);
  });
});

describe('a download URL in a private network (architecture#outgoing-calls)', () => {
  let inner: Server;
  let hits = 0;
  beforeAll(async () => {
    inner = createServer((_request, response) => {
      hits += 1;
      response.end('[]');
    });
    await new Promise<void>((done) => inner.listen(0, '127.0.0.1', done));
  });
  afterAll(() => new Promise((done) => inner.close(done)));

  it('does not connect to a download URL in a private network', async () => {
    const { port } = inner.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/latest/meta-data?X-Signature=hush`;
    const body = JSON.stringify({
      success: true,
      data: { sessionId: 's', transcript_download_url: url, transcript_download_url_expiry: '2040-01-01T00:00:00Z' },
    });
    fixture.provider.addFault('transcript', { status: 200, body });
    const { id } = await fixture.meet({ artifact });
    const error = await fixture.jobs.waitForError(id);
    expect(error).toContain('the address of 127.0.0.1 is not public');
    expect(error).not.toMatch(/hush|meta-data/);
    expect(hits).toBe(0);
  });
});
