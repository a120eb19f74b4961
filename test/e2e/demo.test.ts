import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFreePort } from '../../tools/servers/ports.ts';
import { startWorld } from './world.ts';
import type { World } from './world.ts';

const repoDir = join(import.meta.dirname, '..', '..');
let world: World;
let settings: Record<string, string>;

beforeAll(async () => {
  const [provider, model] = [await findFreePort(), await findFreePort()];
  settings = {
    DEMO_PROVIDER_PORT: String(provider),
    REALTIMEKIT_BASE_URL: `http://127.0.0.1:${provider}`,
    REALTIMEKIT_API_TOKEN: 'provider-token',
    DEMO_MODEL_PORT: String(model),
    LLM_BASE_URL: `http://127.0.0.1:${model}/v1`,
    LLM_API_KEY: 'model-key',
    DEMO_PASSWORD: 'words-of-the-demo',
  };
  world = await startWorld(import.meta.url, settings);
  const applied = await world.cli('workspace', 'apply', join(repoDir, 'test', 'fixtures', 'demo-workspace.yaml'));
  if (applied.code !== 0) throw new Error(applied.stderr);
});
afterAll(() => world.stop());

function runDemo(overrides: Record<string, string> = {}): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, NODE_OPTIONS: '', ...world.platform.settings, ...settings, DEMO_BASE_URL: world.baseUrl, ...overrides };
  return new Promise((resolve) => {
    execFile(process.execPath, [join('tools', 'demo', 'main.ts')], { cwd: repoDir, env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

describe('npm run demo (README)', () => {
  it.each(['first', 'second'])(
    'plays one whole conversation, the %s time',
    async () => {
      const { code, stdout, stderr } = await runDemo();
      expect([code, stderr]).toEqual([0, '']);
      for (const line of [
        '{"ok":true}',
        'with Ada Okafor, Ben Hartmann, Chiara Rossi, Noor Haddad',
        'complete: true',
        '"Held" → "Import the transcript"',
        'status imported',
        'the same as in the evidence',
        '# Conversation of ',
        'the import has moved the conversation to "Review"',
        'came back unchanged',
        'no language model is configured',
        'Done in ',
      ]) {
        expect(stdout).toContain(line);
      }
    },
    60_000,
  );

  it('says what to do when it cannot play the meeting provider', async () => {
    const { code, stderr } = await runDemo({ DEMO_PROVIDER_PORT: '' });
    expect([code, stderr]).toEqual([1, expect.stringContaining('Start it without that variable')]);
  });
});
