/** The commands of the guides, run as a reader would run them one after the other, and the answers that the guides show. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startWorld, type World } from './world.ts';

const run = promisify(execFile);
const guidesDir = join(import.meta.dirname, '..', '..', 'docs', 'guides');

let world: World;
beforeAll(async () => {
  world = await startWorld(import.meta.url, {}, { services: ['api-gateway', 'conversations', 'directory'], examples: false });
});
afterAll(() => world.stop());

interface Block {
  readonly language: string;
  readonly text: string;
}

function readBlocks(guide: string): Block[] {
  const text = readFileSync(join(guidesDir, guide), 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', body = '']) => ({ language, text: body }));
}

/** What a guide shows, `…` standing for any text. */
function expectation(shown: unknown): unknown {
  if (shown === '…') return expect.any(String);
  if (Array.isArray(shown)) return shown.map(expectation);
  if (typeof shown !== 'object' || shown === null) return shown;
  return expect.objectContaining(Object.fromEntries(Object.entries(shown).map(([key, value]) => [key, expectation(value)])));
}

describe('docs/guides/api.md', () => {
  const blocks = readBlocks('api.md');
  const commands = blocks.flatMap(({ language, text }, index) => {
    const next = blocks[index + 1];
    return language === 'sh' && next?.language === 'json' ? [{ command: text.trim(), shown: next.text }] : [];
  });

  it('has commands', () => {
    expect(commands.length).toBeGreaterThan(2);
  });

  it.each(commands)('shows what $command answers', async ({ command, shown }) => {
    const env = { ...process.env, BASE: world.baseUrl, API_TOKEN: world.sharedToken };
    const { stdout } = await run('sh', ['-c', command], { env });
    expect(JSON.parse(stdout)).toEqual(expectation(JSON.parse(shown)));
  });
});
