import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { playBytes, readCaptions, startService } from '#libs/product/testing';
import { media, mediaPaths } from '#services/media';
import { recordingStart, startRecordingFixture, type RecordingFixture } from './recording-fixture.ts';

let fixture: RecordingFixture;
let mediaUrl = '';
beforeAll(async () => {
  fixture = await startRecordingFixture(import.meta.url, { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' });
  await startService('transcripts', fixture.media.env);
  const service = (await fixture.start()) as unknown as { internalPort: number };
  mediaUrl = `http://127.0.0.1:${service.internalPort}`;
});
afterAll(() => fixture.media.stop());

/**
 * Creates a conversation with a full recording. According to the provider, the recording starts two minutes and a
 * quarter of a second before the transcript window.
 */
async function record(): Promise<number> {
  const { id } = await fixture.meet({
    journey: 'plain',
    content: playBytes(Buffer.from('a film'), '"1"'),
    cutSeconds: 120.25,
  });
  await fixture.jobs.waitForState(id);
  return id;
}

/** Inserts transcript rows as an import does. */
async function say(id: number, ...rows: [startMs: number, endMs: number, text: string][]): Promise<void> {
  const { sql } = fixture.media.env;
  await sql(
    `insert into transcripts.import_evidence (conversation_id, status, contract_import, session_id, session_started_at, artifact_sha256,
       artifact_bytes, window_start, window_end, raw, accepted, installed_segments, excluded)
     values ($1, 'imported', true, 's', $2, repeat('a', 64), 1, $2::timestamptz + interval '120.25 seconds', $2::timestamptz + interval '1 hour', $3, $3, $3,
       '{"before_window_start":0,"after_window_end":0,"crosses_window_start":0,"crosses_window_end":0,"transcript_timestamp_ambiguous":0,"transcript_timestamp_malformed":0,"empty_sentence":0}')`,
    [id, recordingStart, rows.length],
  );
  for (const [index, [startMs, endMs, text]] of rows.entries())
    await sql(`insert into transcripts.transcript_rows values ($1, $2, $3, $4, -1, $5)`, [
      id,
      startMs * 1000,
      index,
      endMs * 1000,
      text,
    ]);
}

const captions = async (id: number): Promise<string> => {
  const reply = await fixture.media.bus.callRaw(
    media.rpcs.getCaptions,
    { conversation_id: id },
    { requestId: 'test', actor: fixture.media.actor },
  );
  if (reply.kind !== 'bytes') throw new Error('a stream');
  return Buffer.from(reply.bytes).toString('utf8');
};
const times = async (id: number): Promise<number[][]> =>
  (await readCaptions(await captions(id), 'vtt')).map(({ startMs, endMs }) => [startMs, endMs]);

describe('media.recordings.get-captions (T4, T5)', () => {
  it('returns captions timed from the start of an untrimmed recording that started before the window', async () => {
    const id = await record();
    await say(id, [0, 1_500, 'Welcome --> all.'], [2_000, 2_000, 'So.']);
    expect(await captions(id)).toBe(
      'WEBVTT\n\n00:02:00.250 --> 00:02:01.750\n<v Unresolved speaker 1>Welcome --&gt; all.\n\n00:02:02.250 --> 00:02:02.251\n<v Unresolved speaker 1>So.\n',
    );
  });

  it('returns captions timed from the start of the window for a trimmed recording, and for one with an unknown start time', async () => {
    const id = await record();
    await say(id, [500, 1_500, 'Welcome.']);
    await fixture.media.env.sql(
      'update media.recording_imports set recording_started_at = null where conversation_id = $1',
      [id],
    );
    expect(await times(id)).toEqual([[500, 1_500]]);
    await fixture.media.env.sql(
      `update media.recording_imports set recording_started_at = $2 where conversation_id = $1`,
      [id, recordingStart],
    );
    expect(await times(id)).toEqual([[120_750, 121_750]]);
    const { ticket } = await fixture.media.call(media.rpcs.issueUploadTicket, {
      conversation_id: id,
      kind: 'front_trimmed',
    });
    const address = `${mediaUrl}${mediaPaths.recording(id, 'front_trimmed')}?name=trimmed.mp4&finalized=false`;
    const stored = await fetch(address, { method: 'PUT', body: 'trimmed', headers: { 'request-id': 'test', ticket } });
    expect(stored.status).toBeLessThan(300);
    expect(await times(id)).toEqual([[500, 1_500]]);
  });

  it('returns 404 for captions without a transcript, without a recording, and of an unknown conversation', async () => {
    await expect(captions(await record())).rejects.toMatchObject({ code: 'not_found' });
    const silent = await fixture.media.createConversation();
    await say(silent, [0, 1, 'x']);
    await expect(captions(silent)).rejects.toMatchObject({ code: 'not_found' });
    await expect(captions(999_999)).rejects.toMatchObject({ code: 'not_found' });
  });
});
