import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sized } from '../drill.ts';
import {
  applyDemo,
  demoWorkspace,
  startTestPlatform,
  type Applied,
  type Demo,
  type TestPlatform,
} from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let folder: string;
let count = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bulk-'));
  writeFileSync(join(folder, 'talk.mp3'), 'the words of a talk');
  platform = await startTestPlatform(import.meta.url);
  demo = await applyDemo(platform, 'bulk');
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await platform.stop();
});

const write = (text: string, name = `${++count}.yaml`): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const run = (document: unknown, ...options: string[]) =>
  platform.cli('workspace', 'apply', write(JSON.stringify(document), `${++count}.json`), ...options);

async function bulk(items: Record<string, unknown>[], more: Record<string, unknown> = {}): Promise<Applied> {
  const { code, stdout, stderr } = await run({ ...more, conversations: items }, '--json');
  // Progress lines appear on slow machines.
  const problems = stderr.replaceAll(/^conversations: \d+ of \d+ applied .*\n/gm, '');
  expect({ code, problems }).toEqual({ code: 0, problems: '' });
  return JSON.parse(stdout) as Applied;
}
const read = async (id: number): Promise<any> =>
  (await platform.call('GET', `/api/coherence/conversations/${id}`)).json;
const idOf = (applied: Applied, key: string): number => applied.ids['conversations']?.[key] ?? 0;
const evidence = async (id: number): Promise<any> =>
  (await platform.call('GET', `/api/coherence/conversations/${id}/transcript/import-evidence`)).json;

describe('workspace apply FILE, conversations: (rules/workspace#bulk-import)', () => {
  const full = () => ({
    key: 'old-42',
    journey: demo.journey,
    step: 'second',
    event: `event-bulk`,
    start: '2026-05-01T12:00:00.123456+02:00',
    finish: null,
    participants: ['ben-bulk', 'ada-bulk'],
    connected: ['event-bulk'],
    infos: { publishing: { fields: { title: 'Old talk' } }, question_timings: [1], big: 1 },
    config: {
      booking: { uid: 'u1' },
      idempotency: { a: 1 },
      'enter-coherence': { phase: 'over', meetingId: 'm-1', anything: true },
    },
    audio: './talk.mp3',
    transcript: [
      { start_ms: 0, end_ms: 2400, person: 'ada-bulk', text: 'Welcome.' },
      { start_ms: 2400.5, end_ms: 65_000, person: null, speaker: 'Guest', text: 'Thanks.' },
      { start_ms: 66_000, end_ms: 67_000, text: 'And hello.' },
    ],
  });

  it('creates a conversation with all fields of the item, including any info key and pipeline state', async () => {
    const applied = await bulk([full()]);
    expect(applied).toEqual({
      created: 1,
      updated: 0,
      unchanged: 0,
      ids: { conversations: { 'old-42': expect.any(Number) } },
    });
    const id = idOf(applied, 'old-42');
    const conversation = await read(id);
    expect(conversation).toMatchObject({
      start: '2026-05-01T10:00:00.123456Z',
      finish: null,
      journey_slug: demo.journey,
      step_slug: 'second',
      infos: { publishing: { fields: { title: 'Old talk' } }, question_timings: [1], big: 1 },
      config: {
        booking: { uid: 'u1' },
        idempotency: { a: 1 },
        'enter-coherence': { phase: 'over', meetingId: 'm-1', anything: true },
      },
    });
    expect(conversation.participants.map((person: any) => person.id)).toEqual([demo.ben, demo.ada]);
    expect(conversation.connected.map((holon: any) => holon.slug)).toEqual(['event-bulk']);
    expect(conversation.infos.audio).toEqual({
      path: expect.any(String),
      name: 'talk.mp3',
      content_type: 'audio/mpeg',
      size_bytes: 19,
      source: 'import',
      created_at: expect.any(String),
    });
    expect((await platform.call('GET', `/api/coherence/conversations/${id}/audio`)).text).toBe('the words of a talk');
    expect((await platform.call('GET', `/api/coherence/conversations/${id}/enter-coherence`)).json).toMatchObject({
      phase: 'over',
      meetingId: 'm-1',
    });
    const { text } = await platform.call('GET', `/api/coherence/conversations/${id}/transcript`);
    expect(text).toContain('**Ada** (00:00)\nWelcome.');
    expect(text).toContain('**Guest** (00:02)\nThanks.');
    expect(text).toContain('**Unresolved speaker 2** (01:06)\nAnd hello.');
  });

  it('changes nothing when the same file is applied again, and updates only the fields in a later file', async () => {
    const first = await bulk([{ ...full(), key: 'twice' }]);
    const id = idOf(first, 'twice');
    const before = await read(id);
    expect(await bulk([{ ...full(), key: 'twice' }])).toEqual({ created: 0, updated: 0, unchanged: 1, ids: first.ids });
    expect(await read(id)).toEqual(before);
    await platform.call('PATCH', `/api/coherence/conversations/${id}`, { json: { infos: { kept: 1 } } });
    const again = await bulk([{ key: 'twice', infos: { big: 2 } }]);
    expect(again).toMatchObject({ created: 0, updated: 1, unchanged: 0 });
    const after = await read(id);
    expect(after).toEqual({ ...before, infos: { ...before.infos, big: 2, kept: 1 }, updated_at: after.updated_at });
    expect(
      await bulk([{ key: 'twice', transcript: [{ start_ms: 0, end_ms: 1, person: 'ben-bulk', text: 'Other.' }] }]),
    ).toMatchObject({
      updated: 1,
    });
    expect((await platform.call('GET', `/api/coherence/conversations/${id}/transcript`)).text).toContain(
      '**Ben** (00:00)\nOther.',
    );
  });

  it('accepts null for journey, step, event, start and finish, and an item with only a key', async () => {
    const applied = await bulk([
      { key: 'bare' },
      {
        key: 'nulls',
        journey: null,
        step: null,
        event: null,
        start: null,
        finish: null,
        infos: null,
        config: null,
        audio: null,
        recording: null,
        transcript: null,
      },
    ]);
    for (const key of ['bare', 'nulls']) {
      expect(await read(idOf(applied, key))).toMatchObject({
        journey_slug: '',
        step_slug: '',
        start: null,
        finish: null,
        participants: [],
        infos: {},
        config: {},
      });
    }
  });

  it('assigns the first active step to a conversation whose item has no step, and no step for null', async () => {
    const applied = await bulk([
      { key: 'first-step', journey: demo.journey },
      { key: 'no-step', journey: demo.journey, step: null },
    ]);
    expect((await read(idOf(applied, 'first-step'))).step_slug).toBe('first');
    expect((await read(idOf(applied, 'no-step'))).step_slug).toBe('');
  });

  it('resolves a reference to an item of the same file before a stored object', async () => {
    const more = demoWorkspace('fresh');
    const item = {
      key: 'fresh',
      journey: 'journey-fresh',
      step: 'third',
      event: 'event-fresh',
      participants: ['ada-fresh', 'ada-bulk'],
    };
    const dry = await run({ ...more, conversations: [item] }, '--dry-run');
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toContain('+ conversations fresh');
    const applied = await bulk([item], more);
    const conversation = await read(idOf(applied, 'fresh'));
    expect(conversation).toMatchObject({ journey_slug: 'journey-fresh', step_slug: 'third' });
    expect(conversation.participants.map((person: any) => person.id)).toEqual([
      applied.ids['people']?.['ada-fresh'],
      demo.ada,
    ]);
  });

  it('reports every error of the file with its line, and changes nothing', async () => {
    const file = write(
      [
        'people:', // 1
        '  - {key: late, name: Late}', // 2
        'conversations:', // 3
        '  - key: wrong-1', // 4
        '    journey: nowhere', // 5
        '    participants: [late, nobody]', // 6
        '    start: yesterday', // 7
        '  - key: wrong-2', // 8
        `    journey: ${demo.journey}`, // 9
        '    step: nope', // 10
        '    event: nothing', // 11
        '    audio: ./missing.mp3', // 12
        '    recording: {full: ./talk.mp3, size: 1}', // 13
        '  - key: wrong-3', // 14
        '    audio: ./3.txt', // 15
        '    participants:', // 16
        '      - late', // 17
        '      - nobody', // 18
        '  - key: right', // 19
        '  - key: right', // 20
        '  - {infos: []}', // 21
        '  - key: rows', // 22
        '    transcript:', // 23
        '      - {start_ms: 5, end_ms: 1, text: a}', // 24
        '      - {start_ms: 5, end_ms: 9, person: nobody, text: 7}', // 25
        '  - {key: times, start: 2026-05-01T12:00:00Z, finish: 2026-05-01T13:59:59+02:00}', // 26
        '',
      ].join('\n'),
    );
    writeFileSync(join(folder, '3.txt'), 'x');
    const { code, stdout, stderr } = await platform.cli('workspace', 'apply', file);
    expect([code, stdout]).toEqual([1, '']);
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(`${file}:`, ''));
    expect(lines).toEqual([
      '7: conversations[0].start: must be an RFC 3339 date and time, or null',
      '13: conversations[1].recording.size: is not a known field',
      '15: conversations[2].audio: must have one of these extensions: aac, flac, m4a, mp3, oga, ogg, opus, wav, webm',
      '18: conversations[2].participants[1]: person "nobody" does not exist in the file or the database',
      '20: conversations[4].key: repeats conversations[3]',
      '21: conversations[5]: requires "key"',
      '21: conversations[5].infos: must be an object',
      '24: conversations[6].transcript[0].end_ms: is before start_ms',
      '25: conversations[6].transcript[1].text: must be text',
      '26: conversations[7].finish: is before start',
      '10 problems; nothing changed.',
    ]);
    expect(await platform.sql(`select 1 from directory.people where key = 'late'`)).toEqual([]);
    expect(await platform.sql(`select 1 from conversations.import_keys where key = 'right'`)).toEqual([]);
  });

  it.each([
    ['start', '2026-05-01T12:00:00.000001Z'],
    ['finish', '2026-05-01T09:59:59Z'],
  ])('rejects a %s that sets the finish before the stored start, also in a dry run', async (field, time) => {
    const key = `order-${field}`;
    const stored = { key, start: '2026-05-01T10:00:00Z', finish: '2026-05-01T12:00:00Z' };
    const id = idOf(await bulk([stored]), key);
    const before = await read(id);
    for (const options of [['--dry-run'], []]) {
      const { code, stderr } = await run({ conversations: [{ key, [field]: time, infos: { x: 1 } }] }, ...options);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`Conversation "${key}": finish is before start.`)]);
    }
    expect(await read(id)).toEqual(before);
    await bulk([{ key, start: '2026-05-01T12:00:00Z' }]);
    expect((await read(id)).start).toBe('2026-05-01T12:00:00Z');
  });

  it('reports the changes of a --dry-run, and changes nothing', async () => {
    await bulk([{ key: 'dry', infos: { a: 1 } }]);
    const { stdout } = await run(
      {
        conversations: [
          { key: 'dry', finish: '2026-01-01T00:00:00Z', infos: { a: 2 }, audio: 'talk.mp3' },
          { key: 'dry-new' },
        ],
      },
      '--dry-run',
      '--json',
    );
    const shown = JSON.parse(stdout) as Applied & { diff: unknown };
    expect(shown).toMatchObject({
      created: 1,
      updated: 1,
      unchanged: 0,
      ids: { conversations: { dry: expect.any(Number) } },
    });
    expect(shown.diff).toEqual([
      {
        list: 'conversations',
        key: 'dry',
        action: 'update',
        fields: [
          { field: 'finish', old: null, new: '2026-01-01T00:00:00Z' },
          { field: 'infos', old: { a: 1 }, new: { a: 2 } },
          { field: 'files', old: null, new: null },
        ],
      },
      { list: 'conversations', key: 'dry-new', action: 'create', fields: [] },
    ]);
    expect(await read(idOf(shown, 'dry'))).toMatchObject({ finish: null, infos: { a: 1 } });
    expect(await platform.sql(`select 1 from conversations.import_keys where key = 'dry-new'`)).toEqual([]);
  });

  it('preserves infos.audio and integers above 2^53 of an item', async () => {
    const text = JSON.stringify({
      conversations: [{ key: 'own-audio', audio: 'talk.mp3', infos: { audio: { path: 'elsewhere' }, n: 'BIG' } }],
    });
    const { stdout } = await platform.cli(
      'workspace',
      'apply',
      write(text.replace('"BIG"', '9007199254740993')),
      '--json',
    );
    const id = idOf(JSON.parse(stdout) as Applied, 'own-audio');
    const answer = await platform.call('GET', `/api/coherence/conversations/${id}`);
    expect(answer.json.infos.audio).toEqual({ path: 'elsewhere' });
    expect(answer.text).toMatch(/"n": ?9007199254740993/);
    expect((await platform.call('GET', `/api/coherence/conversations/${id}/audio`)).text).toBe('the words of a talk');
  });
});

describe('import statuses of bulk-imported conversations (rules/transcripts#import-statuses; D7, D7b)', () => {
  const rows = [{ start_ms: 0, end_ms: 10, person: 'ada-bulk', text: 'Uncut.' }];

  it('returns legacy_unbounded for imported rows without a window, and never_ran without rows', async () => {
    const applied = await bulk([
      { key: 'legacy', transcript: rows },
      { key: 'rowless', transcript: [] },
    ]);
    expect(await evidence(idOf(applied, 'legacy'))).toMatchObject({
      status: 'legacy_unbounded',
      failureReason: 'legacy_unbounded',
      contractImport: false,
      artifact: null,
      window: null,
      counts: null,
    });
    expect(await evidence(idOf(applied, 'rowless'))).toMatchObject({ status: 'never_ran', contractImport: false });
  });

  it('returns invalid_transcript_window after an import with an unusable window', async () => {
    const room = {
      meetingId: 'm',
      conversationStartedAt: '2026-05-01T11:00:00Z',
      captureEndedAt: '2026-05-01T10:00:00Z',
    };
    const applied = await bulk([{ key: 'bad-window', config: { 'enter-coherence': room } }]);
    const id = idOf(applied, 'bad-window');
    await platform.cli('conversations', 'import-transcript', String(id));
    for (let tries = 0; tries < 200 && (await evidence(id)).status === 'never_ran'; tries++)
      await new Promise((next) => setTimeout(next, 50));
    expect((await evidence(id)).status).toBe('invalid_transcript_window');
  });

  it('retains rows that were imported with a window', async () => {
    const applied = await bulk([{ key: 'cut', transcript: rows }]);
    const id = idOf(applied, 'cut');
    await platform.sql(
      `insert into transcripts.import_evidence (conversation_id, status, contract_import) values (${id}, 'transcript_window_empty', true)`,
    );
    expect(
      await bulk([
        { key: 'cut', transcript: [...rows, { start_ms: 20, end_ms: 30, person: 'ben-bulk', text: 'Excluded.' }] },
      ]),
    ).toMatchObject({ unchanged: 1 });
    expect((await platform.call('GET', `/api/coherence/conversations/${id}/transcript`)).text).not.toContain(
      'Excluded.',
    );
  });
});

describe('large workspace files (rules/workspace#bulk-import)', () => {
  const many = sized({ smoke: 500, release: 2_500 });
  const repeated = many - 100;
  const item = (index: number) => ({
    key: `many-${index}`,
    journey: demo.journey,
    start: '2026-01-01T00:00:00Z',
    participants: ['ada-bulk'],
    infos: { note: `"quoted", [bracketed] {braced} \\ ${'x'.repeat(400)}`, index },
    transcript: [{ start_ms: index, end_ms: index + 1, person: 'ben-bulk', text: `Row ${index}` }],
  });

  it.each(['json', 'pretty.json', 'yaml'])(
    'reads the list `%s` item by item, with line numbers',
    async (kind) => {
      const items = Array.from({ length: many }, (_, index) => item(index));
      const document = { conversations: items, people: [{ key: 'after', name: 'After' }] };
      const yaml = [
        'conversations:',
        ...items.map(
          ({ key, journey, infos, transcript, participants }) =>
            `- key: ${key}\n  journey: ${journey}\n  participants: ${JSON.stringify(participants)}\n  infos:\n    index: ${infos.index}\n` +
            `    note: |\n      - no: item\n      ${'x'.repeat(400)}\n  # a comment\n  transcript: ${JSON.stringify(transcript)}`,
        ),
        'people:',
        '- {key: after, name: After}',
        '',
      ].join('\n');
      const text = kind === 'yaml' ? yaml : JSON.stringify(document, null, kind === 'json' ? 0 : 2);
      const file = write(text, `large.${kind}`);
      const applied = await platform.cli('workspace', 'apply', file, '--json');
      expect(applied.code).toBe(0);
      const result = JSON.parse(applied.stdout) as Applied;
      expect([
        result.created + result.updated + result.unchanged,
        Object.keys(result.ids['conversations'] ?? {}).length,
      ]).toEqual([many + 1, many]);
      const [{ n }] = (await platform.sql<{ n: number }>(
        `select count(*)::integer as n from conversations.import_keys where key like 'many-%'`,
      )) as [{ n: number }];
      expect(n).toBe(many);
      const conversation = await read(idOf(result, 'many-77'));
      expect(conversation.infos.index).toBe(77);

      const broken = write(text.replace(`many-${repeated}`, 'many-7').replace(/After/, ''), `broken.${kind}`);
      const refused = await platform.cli('workspace', 'apply', broken);
      const lineOf = (needle: string, from = 0): number => text.slice(0, text.indexOf(needle, from)).split('\n').length;
      expect(refused.stderr).toContain(
        `${broken}:${lineOf(`many-${repeated}`)}: conversations[${repeated}].key: repeats conversations[7]`,
      );
      expect(refused.stderr).toMatch(new RegExp(`${broken}:${lineOf('After')}: people\\[0\\]\\.name`));
    },
    120_000,
  );
});
