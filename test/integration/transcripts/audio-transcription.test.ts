import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs, startScriptProcess, waitFor } from '#libs/product/testing';
import { startAudioFixture, type AudioFixture } from './audio-fixture.ts';

let fixture: AudioFixture;
let service: { stop(): Promise<void> };
/** Ten seconds; the audio is split in its silences. */
let talk: Buffer;

beforeAll(async () => {
  fixture = await startAudioFixture(import.meta.url);
  service = await fixture.startTranscripts();
  talk = await fixture.makeAudio([
    ['tone', 3],
    ['silence', 1],
    ['tone', 3],
    ['silence', 1],
    ['tone', 2],
  ]);
}, provideTimeoutMs);
afterEach(() => {
  fixture.llm.clearFaults();
  fixture.llm.transcribeWith(undefined);
});
afterAll(() => fixture.stop());

/** Returns the files that the server received after the first `before` files. */
const sentSince = (before: number) => fixture.llm.transcriptionRequests.slice(before);

describe('audio_transcription (rules/steps#pipeline-jobs; rules/providers#language-models)', () => {
  it('splits long audio at silences, and joins the transcribed chunks with correct times, one unresolved speaker and evidence', async () => {
    const before = fixture.llm.transcriptionRequests.length;
    fixture.llm.transcribeWith((_request, index) => [
      { start: 1, end: 2, text: ` Sentence ${index - before + 1}.` },
      { start: 2.001, end: 2.25, text: '  ' },
    ]);
    const { id } = await fixture.hold({ audio: talk });
    const evidence = await fixture.becomes(id, 'imported');
    const sent = sentSince(before);
    const lengths = await Promise.all(sent.map(({ bytes }) => fixture.measure(bytes)));
    expect(lengths.map((length) => Math.round(length * 10) / 10)).toEqual([3.5, 4, 2.5]);
    expect(
      sent.map(({ fileName, model, responseFormat, language, prompt }) => [
        fileName,
        model,
        responseFormat,
        language,
        prompt,
      ]),
    ).toEqual([1, 2, 3].map((number) => [`part-${number}.ogg`, 'scripted-ears', 'verbose_json', null, null]));
    const rows = await fixture.rows(id);
    expect(rows.map(([, , text]) => text)).toEqual(['Sentence 1.', 'Sentence 2.', 'Sentence 3.']);
    for (const [index, expected] of [1, 4.5, 8.5].entries()) {
      expect(rows[index]?.[0]).toBeCloseTo(expected, 1);
      expect((rows[index]?.[1] ?? 0) - (rows[index]?.[0] ?? 0)).toBeCloseTo(1, 2);
    }
    expect(evidence).toMatchObject({
      contractImport: true,
      artifact: {
        sessionId: 'canonical-audio',
        bytes: talk.byteLength,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      window: { conversationStartedAt: '2030-01-15T10:01:00+00:00', captureEndedAt: '2030-01-15T10:05:00+00:00' },
      counts: { raw: 6, accepted: 3, installedSegments: 3, excludedByReason: { empty_sentence: 3 } },
    });
    expect(await fixture.markdown(id)).toContain('Unresolved speaker 1');
    expect(await fixture.jobs.waitForState(id)).toMatchObject({
      percent: 100,
      result: { status: 'imported', parts: 3 },
    });
    await waitFor(async () =>
      (await fixture.notes(id)).includes('audio_transcription finished: imported; 3 of 6 rows lie in the window'),
    );
  });

  it('sends only audio inside the window, with the configured offset, language and vocabulary, and advances the conversation', async () => {
    const before = fixture.llm.transcriptionRequests.length;
    // The audio starts two seconds before the conversation, which lasts five seconds. Text after the end of the audio
    // is a hallucination of the model.
    fixture.llm.transcribeWith(() => [
      { start: 0, end: 1, text: ' At the very beginning.' },
      { start: 4.5, end: 5.9, text: ' Rounded up at the end.' },
      { start: 40, end: 41, text: ' Never said.' },
      { start: 'soon', end: 2, text: ' No time.' },
    ]);
    const window = { conversationStartedAt: '2030-01-15T10:01:00Z', captureEndedAt: '2030-01-15T10:01:05Z' };
    const { id } = await fixture.hold({ audio: talk, journey: 'early', window });
    const evidence = await fixture.becomes(id, 'imported');
    const [sent, ...more] = sentSince(before);
    expect(more).toEqual([]);
    expect(sent).toMatchObject({ language: 'de', prompt: 'Coherence, holon' });
    expect(await fixture.measure(sent?.bytes ?? Buffer.alloc(0))).toBeCloseTo(5, 1);
    const rows = await fixture.rows(id);
    expect(rows[0]).toEqual([0, 1, 'At the very beginning.']);
    expect(rows[1]?.[0]).toBeCloseTo(4.5, 3);
    expect(rows[1]?.[1]).toBeLessThanOrEqual(5);
    expect(evidence.counts).toMatchObject({
      raw: 4,
      accepted: 2,
      excludedByReason: { transcript_timestamp_malformed: 2 },
    });
    await waitFor(async () => (await fixture.stepOf(id)) === 'review');
  });

  it('stores the response of a model without segments as one row per audio chunk', async () => {
    fixture.llm.transcribeWith(() => 'json_only');
    const { id } = await fixture.hold({ audio: talk });
    await fixture.becomes(id, 'imported');
    const rows = await fixture.rows(id);
    expect(rows.map(([start, , text]) => [Math.round(start * 10) / 10, text])).toEqual([
      [0, 'All that was said.'],
      [3.5, 'All that was said.'],
      [7.5, 'All that was said.'],
    ]);
    expect(rows[2]?.[1]).toBeCloseTo(10, 1);
  });

  it('keeps an existing transcript without calling the model, unless the step is configured to replace it', async () => {
    const { id, recorded } = await fixture.hold({ audio: talk });
    await fixture.jobs.waitForState(id);
    const before = await fixture.rows(id);
    const asked = fixture.llm.transcriptionRequests.length;
    await fixture.env.sql(
      `update conversations.conversations c set step_id = s.id from directory.journey_steps s
       where c.id = $1 and s.slug = 'held' and s.journey_id = (select journey_id from directory.journey_steps where id = c.step_id)`,
      [id],
    );
    await recorded();
    await waitFor(async () => (await fixture.jobs.waitForState(id)).result?.['status'] === 'kept');
    expect([await fixture.rows(id), fixture.llm.transcriptionRequests.length]).toEqual([before, asked]);

    fixture.llm.transcribeWith(() => [{ start: 0, end: 1, text: ' Another transcript.' }]);
    const other = await fixture.hold({ audio: talk, journey: 'again', isRecorded: false });
    await fixture.env.sql(
      `insert into transcripts.transcript_rows (conversation_id, start_us, position, end_us, person_id, text) values ($1, 0, 0, 1, -1, 'Old')`,
      [other.id],
    );
    await other.recorded();
    await fixture.becomes(other.id, 'imported');
    expect((await fixture.rows(other.id)).map(([, , text]) => text)).toEqual(Array(3).fill('Another transcript.'));
  });

  it('keeps the transcript when audio is uploaded again, and uses the new audio in the next run (rules/media#audio-upload)', async () => {
    fixture.llm.transcribeWith(() => [{ start: 0, end: 1, text: ' First hearing.' }]);
    const { id } = await fixture.hold({ audio: talk, journey: 'again' });
    const first = await fixture.becomes(id, 'imported');
    fixture.llm.transcribeWith(() => [{ start: 0, end: 1, text: ' Second hearing.' }]);
    const asked = fixture.llm.transcriptionRequests.length;
    const later = await fixture.makeAudio([['tone', 2]]);
    await fixture.upload(id, later);
    expect([(await fixture.rows(id)).map(([, , text]) => text), await fixture.evidence(id)]).toEqual([
      Array(3).fill('First hearing.'),
      first,
    ]);
    expect([await fixture.jobs.list(id), fixture.llm.transcriptionRequests.length]).toMatchObject([
      [{ state: 'succeeded' }],
      asked,
    ]);
    await fixture.jobs.requeue(id);
    await waitFor(async () => (await fixture.rows(id))[0]?.[2] === 'Second hearing.');
    expect((await fixture.evidence(id)).artifact).toMatchObject({ bytes: later.byteLength });
  });

  it.each([
    ['no window', {}, 'transcript_window_missing'],
    [
      'a window in which nothing was said',
      { conversationStartedAt: '2030-01-15T10:01:00Z', captureEndedAt: '2030-01-15T10:05:00Z' },
      'transcript_window_empty',
    ],
  ])('records the status for %s in the evidence', async (_what, window, status) => {
    const before = fixture.llm.transcriptionRequests.length;
    const isEmpty = status === 'transcript_window_empty';
    if (isEmpty) fixture.llm.transcribeWith(() => []);
    const { id } = await fixture.hold({ audio: talk, window });
    const evidence = await fixture.becomes(id, status as 'transcript_window_missing');
    expect(evidence.contractImport).toBe(isEmpty);
    expect(sentSince(before)).toHaveLength(isEmpty ? 3 : 0);
  });
});

describe('audio outside the window (D7)', () => {
  it.each([
    [
      'ends before the window begins',
      { conversationStartedAt: '2030-01-15T10:01:00Z', captureEndedAt: '2030-01-15T10:05:00Z' },
      -60,
    ],
    [
      'begins when the window has ended',
      { conversationStartedAt: '2030-01-15T10:01:00Z', captureEndedAt: '2030-01-15T10:01:30Z' },
      60,
    ],
    [
      'begins with the end of the window',
      { conversationStartedAt: '2030-01-15T10:01:00Z', captureEndedAt: '2030-01-15T10:01:30Z' },
      30,
    ],
  ])('records transcript_window_empty without a model call when the audio %s', async (_what, window, offset) => {
    const before = fixture.llm.transcriptionRequests.length;
    const { id, recorded } = await fixture.hold({ audio: talk, journey: 'early', window, isRecorded: false });
    const configOf = `config = config || jsonb_build_object('audio_offset_seconds', $1::integer)`;
    await fixture.env.sql(`update directory.journey_steps set ${configOf} where config ? 'audio_offset_seconds'`, [
      offset,
    ]);
    await recorded();
    expect(await fixture.becomes(id, 'transcript_window_empty')).toMatchObject({
      contractImport: true,
      artifact: { bytes: talk.byteLength },
      counts: { raw: 0, accepted: 0, installedSegments: null },
    });
    expect(sentSince(before)).toHaveLength(0);
    await waitFor(async () =>
      (await fixture.notes(id)).includes(
        'audio_transcription finished: transcript_window_empty; 0 of 0 rows lie in the window',
      ),
    );
  });
});

describe('audio_transcription, failures (rules/steps#pipeline-jobs)', () => {
  it('waits for missing audio and for an unavailable transcription server, and stores nothing before', async () => {
    const { id } = await fixture.hold({});
    await fixture.jobs.waitForError(id, 'the conversation has no audio yet');
    await fixture.upload(id, talk);
    // The client retries once, so two failures make the call fail.
    fixture.llm.failTranscription({ kind: 'status', status: 500 }, { kind: 'dropped' });
    await fixture.jobs.makeDue();
    await fixture.jobs.waitForError(id, /model/);
    expect([await fixture.rows(id), (await fixture.evidence(id)).status]).toEqual([[], 'never_ran']);
    await fixture.jobs.makeDue();
    await fixture.becomes(id, 'imported');
  });

  it.each([
    [
      'refuses the audio',
      () => fixture.llm.failTranscription({ kind: 'status', status: 400 }, { kind: 'status', status: 400 }),
      /refused.*status 400/,
    ],
    ['is told of a file that is no audio', () => undefined, /on this audio/],
  ])('marks the job as dead, with the reason in a note, when the server or ffmpeg %s', async (what, prepare, error) => {
    prepare();
    const { id } = await fixture.hold({ audio: what.startsWith('refuses') ? talk : Buffer.from('no audio at all') });
    const dead = await fixture.jobs.waitForState(id, 'dead');
    expect(dead.error).toMatch(error);
    await waitFor(async () => (await fixture.notes(id)).includes(`audio_transcription failed: ${dead.error}`));
    expect((await fixture.evidence(id)).status).toBe('never_ran');
  });

  it('waits while no model is configured, and is dead with a remedy when ffmpeg is missing', async () => {
    await service.stop();
    const waiting = await fixture.startTranscripts({ TRANSCRIPTION_MODEL: '' });
    const { id } = await fixture.hold({ audio: talk });
    await fixture.jobs.waitForError(id, 'LLM_BASE_URL and TRANSCRIPTION_MODEL are not set');
    await waiting.stop();
    const without = await fixture.startTranscripts({ FFMPEG_PATH: '/nowhere/ffmpeg' });
    await fixture.jobs.makeDue();
    expect((await fixture.jobs.waitForState(id, 'dead')).error).toMatch(/^ffmpeg was not found. Install it/);
    await without.stop();
    service = await fixture.startTranscripts();
  });

  it('transcribes again after a crash: each row once, an empty scratch folder, and no text outside the transcript', async () => {
    await service.stop();
    const before = fixture.llm.transcriptionRequests.length;
    fixture.llm.transcribeWith(async (_request, index) => {
      // The second file of the first attempt never gets a response.
      if (index === before + 1) await new Promise(() => undefined);
      return [{ start: 0.5, end: 1, text: ' Said once.' }];
    });
    const { id } = await fixture.hold({ audio: talk });
    const child = startScriptProcess(join(import.meta.dirname, 'transcripts-process.ts'), {
      ...fixture.settings,
      METRICS_PORT: '0',
    });
    await waitFor(() => fixture.llm.transcriptionRequests.length === before + 2);
    await fixture.jobs.waitForPhase(id, 'transcribed 1 of 3 parts');
    child.signal('SIGKILL');
    await child.ended;
    expect(readdirSync(fixture.settings['TRANSCRIPTION_SCRATCH_DIR'] ?? '')).toHaveLength(1);
    await fixture.jobs.expireLeases();
    service = await fixture.startTranscripts();
    await fixture.jobs.requeueAfterCrash(id);
    await fixture.becomes(id, 'imported');
    expect((await fixture.rows(id)).map(([, , text]) => text)).toEqual(Array(3).fill('Said once.'));
    const folder = fixture.settings['TRANSCRIPTION_SCRATCH_DIR'] ?? '';
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
    const [told] = await fixture.env.sql<{ count: number }>(
      `select count(*)::integer as count from transcripts.jobs j where position('Said once' in j::text) > 0`,
    );
    expect(told?.count).toBe(0);
  });
});
