/**
 * Runs the receivers of docs/guides/webhooks-out.md as a reader of the guide would. The reference library creates the
 * signatures (V6, V8).
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { provideGoProgram, providePython, provideTimeoutMs, waitFor } from '#libs/product/testing';
import { findFreePort } from '../../../libs/product/servers/ports.ts';

const run = promisify(execFile);
const guide = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'guides', 'webhooks-out.md'), 'utf8');
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const body = JSON.stringify({ id: 'evt_1', type: 'conversation.created', data: { journey: 'öffentlich' } });

let folder: string;
let receiver: ChildProcess | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'receivers-'));
});
afterEach(async () => {
  if (receiver === undefined) return;
  const ended = once(receiver, 'exit');
  receiver.kill('SIGKILL');
  await ended;
  receiver = undefined;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function readBlock(language: string): string {
  const [, text] = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(guide) ?? [];
  if (text === undefined) throw new Error(`the guide has no receiver in ${language}`);
  return text;
}

async function write(language: string, name: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, readBlock(language));
  return file;
}

/** Prepares each receiver and returns its start command. */
const languages: Readonly<Record<string, () => Promise<[program: string, ...args: string[]]>>> = {
  js: async () => [process.execPath, await write('js', 'receiver.mjs')],
  python: async () => [await providePython(), await write('python', 'receiver.py')],
  go: async () => {
    const { program, env } = await provideGoProgram();
    const built = join(folder, 'receiver');
    await run(program, ['build', '-o', built, await write('go', 'receiver.go')], {
      env: { ...env, GO111MODULE: 'off' },
    });
    return [built];
  },
};

interface Running {
  post(headers: Record<string, string>, text?: string): Promise<number>;
  printed(): string;
}

async function start(language: string): Promise<Running> {
  const [program, ...args] = (await languages[language]?.()) ?? [''];
  const port = await findFreePort();
  let printed = '';
  const env = { PATH: process.env['PATH'], WEBHOOK_SECRET: secret, PORT: String(port) };
  receiver = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  receiver.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')));
  const post = async (headers: Record<string, string>, text = body): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: text })).status;
  await waitFor(() => post({ 'webhook-id': 'none', 'webhook-timestamp': '0', 'webhook-signature': 'v1,none' }), {
    what: `the receiver in ${language}`,
  });
  return { post, printed: () => printed };
}

function sign(at = new Date(), by = secret): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': new Webhook(by).sign('evt_1', at, body),
  };
}

describe('the receivers of docs/guides/webhooks-out.md', () => {
  it.each(Object.keys(languages))(
    'the example receiver in %s accepts each signed delivery once, and rejects all others',
    async (language) => {
      const { post, printed } = await start(language);
      const other = `whsec_${randomBytes(32).toString('base64')}`;
      const now = new Date();
      const rotating = {
        ...sign(now),
        'webhook-signature': `${sign(now, other)['webhook-signature']} ${sign(now)['webhook-signature']}`,
      };
      expect([await post(sign()), await post(sign()), await post(rotating)]).toEqual([204, 204, 204]);
      expect(await post(sign(new Date(), other))).toBe(400);
      expect(await post(sign(), `${body} `)).toBe(400);
      expect(await post({ ...sign(), 'webhook-id': 'evt_2' })).toBe(400);
      expect(await post(sign(new Date(Date.now() - 600_000)))).toBe(400);
      await waitFor(() => printed().includes('evt_1'));
      expect(printed()).toBe('conversation.created evt_1\n');
    },
    provideTimeoutMs,
  );

  it.each(['js', 'python', 'go'])('the example receiver in %s has at most thirty lines', (language) => {
    const lines = readBlock(language)
      .split('\n')
      .filter((line) => line.trim() !== '');
    expect(lines.length).toBeLessThanOrEqual(30);
  });
});
