/**
 * Runs the commands of the guides to Cal.com, Telegram, RealtimeKit, a language model and service keys, in order,
 * against a fresh platform.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  bookingSecret,
  type LlmServer,
  type RealtimeKitServer,
  startLlm,
  startRealtimeKit,
  startTelegram,
  type TelegramServer,
  waitFor,
} from '#libs/product/testing';
import { demoWorkspace, startTestPlatform, type TestPlatform } from './test-platform.ts';

const run = promisify(execFile);
const repoDir = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'coherence-guides-'));
const workspaceFile = join(folder, 'workspace.yaml');

let llm: LlmServer;
let telegram: TelegramServer;
let provider: RealtimeKitServer;
let platform: TestPlatform;
let variables: Record<string, string>;

beforeAll(async () => {
  [llm, telegram, provider] = await Promise.all([startLlm(), startTelegram(), startRealtimeKit()]);
  llm.answerWith(() => 'Hello!');
  const model = { LLM_BASE_URL: llm.baseUrl, LLM_API_KEY: llm.apiKey, LLM_MODEL: 'demo' };
  const settings = { ...model, TELEGRAM_API_ROOT: telegram.apiRoot };
  platform = await startTestPlatform(import.meta.url, settings, {
    services: ['api-gateway', 'agents', 'conversations', 'directory'],
  });
  const { ids } = await platform.apply(
    JSON.parse(JSON.stringify(demoWorkspace('guides')).replaceAll('journey-guides', 'open-circle')),
  );
  variables = {
    ...model,
    COHERENCE_URL: platform.baseUrl,
    COHERENCE_KEY: await platform.login('root-guides@example.org', 'secret-of-root-guides'),
    BASE: platform.baseUrl,
    API_TOKEN: platform.sharedToken,
    BOOKING_WEBHOOK_SECRET: bookingSecret,
    PERSON_ID: String(ids['people']?.['ada-guides']),
    REALTIMEKIT_BASE_URL: provider.baseUrl,
    REALTIMEKIT_API_TOKEN: provider.apiToken,
    TELEGRAM_BOT_TOKEN: '777:of-the-guide',
    TELEGRAM_WEBHOOK_SECRET: 'a-secret-of-the-guide-that-is-long-enough',
    WORKSPACE_FILE: workspaceFile,
  };
});
afterAll(async () => {
  await platform.stop();
  await Promise.all([llm.stop(), telegram.stop(), provider.stop()]);
  rmSync(folder, { recursive: true });
});

interface Block {
  readonly language: string;
  readonly text: string;
}

function readBlocks(guide: string): Block[] {
  const text = readFileSync(join(repoDir, 'docs', 'guides', guide), 'utf8');
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', body = '']) => ({
    language,
    text: body,
  }));
}

/** Returns the documented output as an expectation; `…` matches any text. */
function expectation(shown: unknown): unknown {
  if (shown === '…') return expect.any(String);
  if (Array.isArray(shown)) return shown.map(expectation);
  if (typeof shown !== 'object' || shown === null) return shown;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(shown).map(([key, value]) => [key, expectation(value)])),
  );
}

/** Replaces `npm run --silent cli -- …`, because npm would install. */
const npm = `npm() { shift 4; node ${join(repoDir, 'cli', 'main.ts')} "$@"; }`;

async function runAll(guide: string): Promise<number> {
  const blocks = readBlocks(guide);
  let answered = 0;
  for (const [index, { language, text }] of blocks.entries()) {
    if (language === 'yaml') writeFileSync(workspaceFile, text);
    const next = blocks[index + 1];
    if (language !== 'sh' || next?.language !== 'json') continue;
    const env = { ...process.env, ...platform.runtime.settings, ...variables };
    await waitFor(
      async () => {
        const { stdout } = await run('sh', ['-c', `${npm}\n${text}`], { env });
        expect(JSON.parse(stdout)).toEqual(expectation(JSON.parse(next.text)));
        return true;
      },
      { what: text },
    );
    answered += 1;
  }
  return answered;
}

describe('guides for connecting other programs and for migrating from the shared token to keys (K9)', () => {
  it.each([
    ['cal-com.md', 3],
    ['telegram.md', 3],
    ['language-model.md', 2],
    ['realtimekit.md', 1],
    ['service-keys.md', 3],
  ])('docs/guides/%s contains the actual output of its commands', async (guide, count) => {
    await expect(runAll(guide)).resolves.toBe(count);
  });
});
