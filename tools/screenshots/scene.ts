/** Data for console screenshots: dead jobs, webhooks, conversations in progress, one with a recording, and keys. */
import { execFileSync } from 'node:child_process';
import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoValues } from '#libs/infrastructure/config';
import { createLogger } from '#libs/infrastructure/logger';
import { createDatabase } from '#libs/infrastructure/orm';
import { readSettings } from '../../cli/settings.ts';
import { createClient } from '../../clients/typescript/index.ts';
import { ffmpegProgram, provideDebianProgram } from '../../libs/product/servers/debian-program.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const filmSeconds = 48;

const messages = [
  ['ada', 'Welcome, everybody. What matters to you now?'],
  ['ben', 'That we hear each other out before we answer.'],
  ['chiara', 'The river behind the village. It was higher this spring than my father has ever seen it.'],
  ['elif', 'I would like to know who looks after the old mill.'],
  ['ben', 'My neighbour does. She would be glad of help.'],
  ['ada', 'What did you hear that surprised you?'],
  ['chiara', 'That nobody had asked her yet.'],
  ['elif', 'Then let us ask her together, next week.'],
] as const;

const deadJobs = [
  {
    service: 'media',
    type: 'media.recording-import',
    error: 'The provider answered 503: Service Unavailable',
    count: 6,
  },
  {
    service: 'transcripts',
    type: 'transcripts.transcript-import',
    error: 'The artifact is not the one that the provider has announced',
    count: 2,
  },
  {
    service: 'agents',
    type: 'agents.publishing-summary',
    error: 'The language model did not answer within 60 s',
    count: 1,
  },
] as const;

export interface Scene {
  /** Path of the conversation's page. */
  readonly conversation: string;
  /** Adds activity by sending webhooks, more of them with each turn. */
  goOn(turn: number): Promise<void>;
}

export async function createScene(baseUrl: string, email: string, password: string): Promise<Scene> {
  const conversation = await makeConversations();
  const person = await makeJobs(conversation);
  const book = async (owner: number): Promise<void> => {
    const payload = { uid: randomUUIDv7(), title: 'A conversation by the river' };
    await fetch(`${baseUrl}/api/coherence/hook/booking/${owner}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ triggerEvent: 'BOOKING_CREATED', createdAt: new Date().toISOString(), payload }),
    });
  };
  for (const owner of [person, 999_999]) await book(owner);
  await makeKeys(baseUrl, email, password);
  return {
    conversation: `/console/conversations/${conversation}`,
    goOn: async (turn) => {
      for (let count = 0; count < 1 + (turn % 6); count++) await book(person);
    },
  };
}

function request(...args: string[]): unknown {
  return JSON.parse(
    execFileSync(process.execPath, [join(repoDir, 'cli', 'main.ts'), ...args, '--json'], { encoding: 'utf8' }),
  );
}

/** Creates one complete conversation, and other conversations that wait in a step for their transcripts. */
async function makeConversations(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'stage-'));
  try {
    const [ffmpeg = ''] = await provideDebianProgram(ffmpegProgram, (line) => void process.stderr.write(`${line}\n`));
    const source = `gradients=s=640x360:r=10:d=${filmSeconds}:c0=0x1f6f68:c1=0x0b3954:c2=0xe0a458:n=3:speed=0.02:seed=7`;
    const tone = `sine=frequency=220:duration=${filmSeconds}`;
    const encode = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-c:a', 'aac', '-shortest', join(folder, 'circle.mp4')];
    execFileSync(ffmpeg, ['-loglevel', 'error', '-f', 'lavfi', '-i', source, '-f', 'lavfi', '-i', tone, ...encode]);
    execFileSync(ffmpeg, ['-loglevel', 'error', '-f', 'lavfi', '-i', tone, join(folder, 'circle.mp3')]);
    const common = { journey: 'open-circle', event: 'spring-2026', participants: ['ada', 'ben', 'chiara', 'elif'] };
    const step = (filmSeconds * 1_000) / messages.length;
    const whole = {
      ...common,
      key: 'stage-whole',
      step: 'review',
      start: '2026-05-01T18:00:00+02:00',
      finish: '2026-05-01T19:00:00+02:00',
      recording: { full: 'circle.mp4', finalized: true },
      audio: 'circle.mp3',
      transcript: messages.map(([person, text], index) => ({
        start_ms: index * step,
        end_ms: index * step + step - 500,
        person,
        text,
      })),
    };
    const others = [2, 3, 4, 5].map((day) => ({
      ...common,
      key: `stage-${day}`,
      step: 'held',
      start: `2026-05-0${day}T18:00:00+02:00`,
    }));
    writeFileSync(join(folder, 'stage.json'), JSON.stringify({ conversations: [whole, ...others] }));
    const { ids } = request('workspace', 'apply', join(folder, 'stage.json')) as {
      ids: { conversations: Record<string, number> };
    };
    for (const { key } of others) request('conversations', 'move', String(ids.conversations[key]), 'import');
    return ids.conversations[whole.key] ?? 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Simulates an hour in which the provider is unavailable, which leaves dead jobs. @returns the id of a person with a
 * booking webhook
 */
async function makeJobs(conversation: number): Promise<number> {
  const url = readSettings()['DATABASE_URL'] ?? '';
  const logger = createLogger({ service: 'screenshots', level: 'warn' });
  const database = await createDatabase({ url, schema: 'public', poolSize: 1, logger, applicationName: 'screenshots' });
  try {
    for (const { service, type, error, count } of deadJobs) {
      const text = `insert into ${service}.jobs (id, type, payload, key, state, attempts, error, created_at, started_at, finished_at)
         select id, $1, jsonb_build_object('conversation_id', $4::int + n), 'stage-' || n, 'dead', 8, $2, now() - interval '3 hours', now() - interval '1 hour', now() - interval '1 hour'
         from unnest($3::uuid[]) with ordinality as made (id, n) where not exists (select from ${service}.jobs where key = 'stage-' || n and type = $1)`;
      const ids = Array.from({ length: count }, () => randomUUIDv7());
      await database.query({ name: `stage-${service}`, text }, [type, error, ids, conversation]);
    }
    const [ada] = await database.query<{ id: number }>({
      name: 'stage-ada',
      text: `select id from directory.people where key = 'ada'`,
    });
    return ada?.id ?? 0;
  } finally {
    await database.close();
  }
}

async function makeKeys(baseUrl: string, email: string, password: string): Promise<void> {
  const gate = createClient({ baseUrl, token: '', loginKey: demoValues.API_LOGIN_SECRET });
  const { body: session } = await gate.login({ body: { email, password } });
  const client = gate.withToken(session.token);
  const { body } = await client.listKeys({ query: {} });
  if (body.count > 0) return;
  const inAYear = new Date(Date.now() + 365 * 86_400_000).toISOString();
  await client.createKey({
    body: { name: 'Archive', scopes: ['conversations:read', 'transcripts:read', 'media:read'], expires_at: inAYear },
  });
  await client.createKey({ body: { name: 'Watch of the platform', scopes: ['ops:read'] } });
  const { body: old } = await client.createKey({ body: { name: 'Website of spring', scopes: ['events:read'] } });
  await client.revokeKey({ path: { key_id: old.key.id } });
}
