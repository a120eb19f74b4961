import { createHash } from 'node:crypto';
import { rm, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startRealtimeKit, type RealtimeKitServer } from '#libs/product/testing';
import { applyDemo, createConversation, eventually, startTestPlatform } from './test-platform.ts';
import type { Demo, TestPlatform } from './test-platform.ts';

const sessionStart = '2026-05-01T09:50:00.000Z';
const windowStart = '2026-05-01T10:00:00Z';
const windowEnd = '2026-05-01T11:00:00Z';
/** The start and end of the transcript window in milliseconds from the start of the session. */
const [opens, closes] = [600_000, 4_200_000];
/** Words spoken outside the window: they must not be stored or returned. */
const excluded = ['beforespeechxq', 'crossingstartxq', 'crossingendxq', 'afterspeechxq'];

let provider: RealtimeKitServer;
let platform: TestPlatform;
let demo: Demo;
let folder: string;
let meeting = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verify-'));
  provider = await startRealtimeKit();
  platform = await startTestPlatform(import.meta.url, {
    REALTIMEKIT_BASE_URL: provider.baseUrl,
    REALTIMEKIT_API_TOKEN: provider.apiToken,
  });
  demo = await applyDemo(platform, 'talk', [
    { slug: 'held', title: 'Held' },
    { slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config: {} },
  ]);
});
afterAll(async () => {
  await platform.stop();
  await provider.stop();
  await rm(folder, { recursive: true, force: true });
});

const row = (
  startTime: unknown,
  endTime: unknown,
  sentence: unknown,
  cpi = 'c-ada',
  displayName = 'Ada at the meeting',
) => ({
  startTime,
  endTime,
  sentence,
  peerData: { id: 'p', userId: 'u', displayName, cpi },
});
const rows = [
  row(0, 1_000, `hello ${excluded[0]}`),
  row(opens - 500, opens + 500, `early ${excluded[1]}`),
  row(opens, opens + 2_400, 'Welcome, everyone.'),
  row(opens + 2_500, opens + 4_000, 'Let us begin.'),
  row(opens + 65_000, opens + 70_000, 'Thank you.', 'c-guest', 'Guest from far'),
  row(opens + 80_000, opens + 81_000, '   '),
  row('soon', 1, 'x'),
  row(closes - 2_000, closes, 'Goodbye.'),
  row(closes - 500, closes + 500, `late ${excluded[2]}`),
  row(closes, closes + 1_000, `after ${excluded[3]}`),
];

async function meet(
  artifactRows: unknown[] | undefined,
  window: Record<string, string> = { conversationStartedAt: windowStart, captureEndedAt: windowEnd },
) {
  meeting += 1;
  const { id } = await createConversation(
    platform,
    demo,
    new Date(Date.UTC(2025, 0, 1) - meeting * 3_600_000).toISOString(),
  );
  const meetingId = `m-${meeting}`;
  provider.addSession({ id: `s-${meeting}`, meetingId, startedAt: sessionStart, endedAt: '2026-05-01T11:10:00.000Z' });
  const artifact = artifactRows === undefined ? undefined : JSON.stringify(artifactRows);
  if (artifact !== undefined)
    provider.setArtifact(`s-${meeting}`, { bytes: artifact, contentType: 'application/json' });
  await platform.call('POST', `/api/coherence/conversations/${id}/enter-coherence`, {
    json: {
      meetingId,
      participants: [{ customParticipantId: 'c-ada', personId: demo.ada, displayName: 'Ada' }],
      ...window,
    },
  });
  await platform.call('POST', `/api/coherence/conversations/${id}/recorded`, {
    headers: { 'idempotency-key': 'once' },
  });
  return { id, sessionId: `s-${meeting}`, artifact };
}
const evidence = async (id: number) =>
  (await platform.call('GET', `/api/coherence/conversations/${id}/transcript/import-evidence`)).json;
const transcript = (id: number, query = '', headers: Record<string, string> = {}) =>
  platform.call('GET', `/api/coherence/conversations/${id}/transcript${query}`, { headers });
const becomes = (id: number, status: string) =>
  eventually(async () => expect((await evidence(id)).status).toBe(status));

describe('transcript import (rules/transcripts#import-statuses; D7, D25, D26)', () => {
  it('imports the rows that are entirely inside the window, and returns counts of excluded rows', async () => {
    const { id, sessionId, artifact } = await meet(rows);
    await becomes(id, 'imported');
    expect(await evidence(id)).toEqual({
      conversationId: id,
      status: 'imported',
      failureReason: null,
      contractImport: true,
      artifact: {
        sessionId,
        sha256: createHash('sha256')
          .update(artifact ?? '')
          .digest('hex'),
        bytes: Buffer.byteLength(artifact ?? ''),
      },
      window: { conversationStartedAt: '2026-05-01T10:00:00+00:00', captureEndedAt: '2026-05-01T11:00:00+00:00' },
      counts: {
        raw: 10,
        accepted: 4,
        installedSegments: 4,
        excludedByReason: {
          before_window_start: 1,
          after_window_end: 1,
          crosses_window_start: 1,
          crosses_window_end: 1,
          transcript_timestamp_ambiguous: 0,
          transcript_timestamp_malformed: 1,
          empty_sentence: 1,
        },
      },
    });
  });

  it('returns Markdown of merged runs with times relative to the window (D24, D24a)', async () => {
    const { id } = await meet(rows);
    await becomes(id, 'imported');
    const answer = await transcript(id);
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-disposition')]).toEqual([
      200,
      'text/markdown; charset=utf-8',
      `attachment; filename=conversation-${id}.md`,
    ]);
    const conversation = (await platform.call('GET', `/api/coherence/conversations/${id}`)).json;
    expect(answer.text.trimEnd()).toBe(
      [
        `# Conversation of ${conversation.start.slice(0, 10)}`,
        '',
        `- Conversation: ${id}`,
        '- Journey: Journey talk',
        '- Event: Event talk',
        `- Start: ${conversation.start}`,
        `- Finish: ${conversation.finish}`,
        '- Participants: Ada',
        '',
        '## Transcript',
        '',
        '**Ada** (00:00)',
        'Welcome, everyone. Let us begin.',
        '',
        '**Guest from far** (01:05)',
        'Thank you.',
        '',
        '**Ada** (59:58)',
        'Goodbye.',
      ].join('\n'),
    );
  });

  it('filters the Markdown by a speaker after merging, including unresolved speakers', async () => {
    const { id } = await meet(rows);
    await becomes(id, 'imported');
    const ada = await transcript(id, `?person_id=${demo.ada}`);
    expect([
      ada.status,
      ada.text.includes('Welcome'),
      ada.text.includes('Goodbye'),
      ada.text.includes('Thank you'),
    ]).toEqual([200, true, true, false]);
    const guest = await transcript(id, '?person_id=-1');
    expect([guest.status, guest.text.includes('(01:05)'), guest.text.includes('Welcome')]).toEqual([200, true, false]);
    for (const query of [`?person_id=${demo.ben}`, '?person_id=-2', '?person_id=0']) {
      const none = await transcript(id, query);
      expect([query, none.status, Object.keys(none.json)]).toEqual([query, 404, ['detail']]);
    }
    expect((await transcript(id, '?person_id=abc')).json.detail[0].loc).toEqual(['query', 'person_id']);
  });

  it('returns the rows as data and captions, by `format` or Accept (T1, T5)', async () => {
    const { id } = await meet(rows);
    await becomes(id, 'imported');
    const json = await transcript(id, '?format=json');
    const ada = { key: String(demo.ada), person_id: demo.ada, name: 'Ada' };
    const guest = { key: '-1', person_id: null, name: 'Guest from far' };
    const segment = (index: number, start_ms: number, end_ms: number, speaker: object, text: string) => ({
      index,
      start_ms,
      end_ms,
      started_at: new Date(Date.parse(windowStart) + start_ms)
        .toISOString()
        .replace('.000Z', 'Z')
        .replace(/(\.\d{3})Z/, '$1000Z'),
      speaker,
      text,
    });
    const segments = [
      segment(0, 0, 2_400, ada, 'Welcome, everyone.'),
      segment(1, 2_500, 4_000, ada, 'Let us begin.'),
      segment(2, 65_000, 70_000, guest, 'Thank you.'),
      segment(3, 3_598_000, 3_600_000, ada, 'Goodbye.'),
    ];
    expect(json.json).toEqual({ conversation_id: id, window: { start: windowStart, end: windowEnd }, segments });
    expect((await transcript(id, '?format=json&person_id=-1')).json.segments).toEqual([segments[2]]);

    const kinds = [
      ['md', 'text/markdown; charset=utf-8', '**Guest from far** (01:05)\nThank you.'],
      ['json', 'application/json', '"text":"Thank you."'],
      ['vtt', 'text/vtt; charset=utf-8', '00:01:05.000 --> 00:01:10.000\n<v Guest from far>Thank you.\n'],
      ['srt', 'application/x-subrip', '3\n00:01:05,000 --> 00:01:10,000\nGuest from far: Thank you.\n'],
      ['txt', 'text/plain; charset=utf-8', 'Guest from far: Thank you.\n'],
    ] as const;
    const tags = new Set<string | null>();
    for (const [format, type, part] of kinds) {
      const named = await transcript(id, `?format=${format}`, { accept: 'application/json' });
      const accepted = await transcript(id, '', { accept: `${type}, image/png` });
      const { headers } = accepted;
      expect([format, named.text, headers.get('content-type')]).toEqual([format, accepted.text, type]);
      expect(accepted.text).toContain(part);
      expect(headers.get('content-disposition')).toBe(`attachment; filename=conversation-${id}.${format}`);
      expect(headers.get('vary')).toMatch(/\bAccept\b/);
      expect((await transcript(id, '', { accept: type, 'if-none-match': headers.get('etag') ?? '' })).status).toBe(304);
      tags.add(headers.get('etag'));
    }
    expect(tags.size).toBe(kinds.length);
    expect((await transcript(id, '', { accept: 'text/*' })).text).toBe((await transcript(id)).text);
    for (const query of ['?format=', '?format=pdf', '?format=MD']) {
      const refused = await transcript(id, query);
      expect([query, refused.status, refused.json.detail[0].type]).toEqual([query, 422, 'enum']);
    }
    expect((await transcript(id, '?format=json&person_id=-2')).json).toEqual({ detail: 'Not Found' });
  });

  it('returns 304 for the ETags of the transcript and its evidence', async () => {
    const { id } = await meet(rows);
    await becomes(id, 'imported');
    for (const path of ['transcript', 'transcript/import-evidence']) {
      const url = `/api/coherence/conversations/${id}/${path}`;
      const etag = (await platform.call('GET', url)).headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[^"]+"$/);
      expect((await platform.call('GET', url, { headers: { 'if-none-match': etag } })).status).toBe(304);
    }
  });

  it('stores no excluded speech in tables, logs and jobs', async () => {
    const { id } = await meet(rows);
    await becomes(id, 'imported');
    const logs = await platform.readLogs();
    for (const word of excluded) {
      expect([word, await platform.findInDatabase(word), logs.includes(word)]).toEqual([word, [], false]);
    }
    expect(await platform.findInDatabase('Welcome, everyone.')).toEqual(['transcripts.transcript_rows']);
  });

  it('returns never_ran and an empty transcript before an import', async () => {
    const { id } = await createConversation(platform, demo, '2030-05-01T10:00:00Z');
    expect(await evidence(id)).toEqual({
      conversationId: id,
      status: 'never_ran',
      failureReason: 'never_ran',
      contractImport: false,
      artifact: null,
      window: null,
      counts: null,
    });
    const answer = await transcript(id);
    expect([answer.status, answer.text.includes('## Transcript')]).toEqual([200, true]);
    const tags = new Set<string | null>();
    for (const [format, text] of [
      ['json', `{"conversation_id":${id},"window":null,"segments":[]}`],
      ['vtt', 'WEBVTT\n'],
      ['srt', ''],
      ['txt', ''],
    ] as const) {
      const empty = await transcript(id, `?format=${format}`);
      expect([format, empty.status, empty.text]).toEqual([format, 200, text]);
      tags.add(empty.headers.get('etag'));
    }
    expect(tags.size).toBe(4);
    expect((await transcript(id, `?person_id=${demo.ada}`)).status).toBe(404);
  });

  it.each([{}, { conversationStartedAt: windowStart }])(
    'returns transcript_window_missing and imports nothing with the window %j',
    async (window) => {
      const { id } = await meet(rows, window);
      await becomes(id, 'transcript_window_missing');
      expect(await evidence(id)).toEqual({
        conversationId: id,
        status: 'transcript_window_missing',
        failureReason: 'transcript_window_missing',
        contractImport: false,
        artifact: null,
        window: null,
        counts: null,
      });
      expect((await transcript(id, '?person_id=-1')).status).toBe(404);
    },
  );

  it('imports when the window becomes complete after the conversation entered the step (D7a)', async () => {
    const { id } = await meet(rows, { conversationStartedAt: windowStart });
    await becomes(id, 'transcript_window_missing');
    await platform.call('POST', `/api/coherence/conversations/${id}/enter-coherence`, {
      json: { captureEndedAt: windowEnd },
    });
    await becomes(id, 'imported');
  });

  it('returns transcript_window_empty with counts when no row is inside the window', async () => {
    const { id } = await meet([rows[0], rows[9]]);
    await becomes(id, 'transcript_window_empty');
    expect(await evidence(id)).toMatchObject({
      failureReason: 'transcript_window_empty',
      contractImport: true,
      counts: { raw: 2, accepted: 0, installedSegments: null },
    });
  });

  it('preserves an imported transcript when an operator repeats the import and the artifact no longer exists', async () => {
    const { id, sessionId } = await meet(rows);
    await becomes(id, 'imported');
    const before = await evidence(id);
    provider.setArtifact(sessionId, { rows: [rows[0]] });
    const result = await platform.cli('conversations', 'import-transcript', String(id));
    expect(result.code).toBe(0);
    await eventually(async () => {
      const jobs = (await platform.ask('jobs', 'list')) as { type: string; state: string }[];
      expect(jobs.filter((job) => job.type === 'transcripts.transcript-import' && job.state !== 'succeeded')).toEqual(
        [],
      );
    });
    expect(await evidence(id)).toEqual(before);
    expect((await transcript(id)).text).toContain('Welcome, everyone.');
  });

  it('returns 404 for the transcript of an unknown conversation', async () => {
    expect((await transcript(999_999_999)).json).toEqual({ detail: 'Not Found' });
    expect(
      (await platform.call('GET', '/api/coherence/conversations/999999999/transcript/import-evidence')).json,
    ).toEqual({
      detail: 'Not Found',
    });
  });
});

describe('transcripts verify (rules/transcripts#import-evidence: a caller can hash its own copy and compare)', () => {
  const cli = (...args: string[]) => platform.cli('transcripts', 'verify', ...args);
  async function copy(name: string, text: string): Promise<string> {
    const file = join(folder, name);
    await writeFile(file, text);
    return file;
  }

  it('recomputes the evidence from a copy of the artifact, for a given conversation or the one that imported the file', async () => {
    const { id, artifact = '' } = await meet([...rows, row(opens, opens + 1, 'Only here.')]);
    await becomes(id, 'imported');
    const stored = await evidence(id);
    const file = await copy('same.json', artifact);
    const named = await cli(file, '--conversation', String(id), '--json');
    const result = JSON.parse(named.stdout) as unknown;
    const { sha256, bytes } = stored.artifact;
    const { raw, accepted, excludedByReason } = stored.counts;
    expect([named.code, result]).toEqual([
      0,
      {
        conversation_id: id,
        status: 'imported',
        matches: true,
        copy: { sha256, bytes, counts: { raw, accepted, excludedByReason } },
        evidence: stored,
        differences: [],
      },
    ]);
    const found = await cli(file, '--json');
    expect([found.code, JSON.parse(found.stdout)]).toEqual([0, [result]]);
    expect((await cli(file)).stdout).toContain('the file matches the import and its evidence: 11 rows, 5 inside');
  });

  it('lists every field of the evidence in which a file differs, and exits with status 1', async () => {
    const { id } = await meet([rows[0], rows[2], rows[6], rows[9]]);
    await becomes(id, 'imported');
    const other = await copy('other.json', JSON.stringify([rows[0]]));
    const result = await cli(other, '--conversation', String(id), '--json');
    const { differences } = JSON.parse(result.stdout) as { differences: { field: string }[] };
    expect([result.code, differences.map(({ field }) => field)]).toEqual([
      1,
      [
        'artifact.sha256',
        'artifact.bytes',
        'counts.raw',
        'counts.accepted',
        'counts.excludedByReason.transcript_timestamp_malformed',
        'counts.excludedByReason.after_window_end',
      ],
    ]);
    expect((await cli(other)).stderr).toContain('No conversation imported this file');
    const garbage = await copy('garbage.txt', 'no transcript');
    expect(await cli(garbage, '--conversation', String(id))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the artifact cannot be read'),
    });
  });

  it('reports missing evidence, and a conversation or file that does not exist', async () => {
    const { id } = await createConversation(platform, demo, '2031-05-01T10:00:00Z');
    const file = await copy('file.json', '[]');
    expect(await cli(file, '--conversation', String(id))).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('no artifact was imported'),
    });
    expect(await cli(file, '--conversation', '999999999')).toMatchObject({
      code: 1,
      stderr: 'Transcript import of conversation 999999999 does not exist.\n',
    });
    expect(await cli(join(folder, 'absent.json'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be read'),
    });
  });
});
