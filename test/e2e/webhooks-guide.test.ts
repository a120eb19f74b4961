/**
 * docs/guides/webhooks-out.md followed on a local machine: endpoint, receiver, a test delivery, and the CLI output (V5,
 * V11).
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { findFreePort } from '../../libs/product/servers/ports.ts';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

const run = promisify(execFile);
const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guides', 'webhooks-out.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'coherence-webhooks-'));

let platform: TestPlatform;
let port: number;
let receiver: ChildProcess | undefined;
/** Code blocks of the local section, with a free port. */
const blocks = (language: string): string[] => {
  const [, part = ''] = /^## On your own machine\n([\s\S]*?)^## /m.exec(guide) ?? [];
  return [...part.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text = '']) =>
    text.replaceAll('3000', String(port)).trim(),
  );
};
beforeAll(async () => {
  port = await findFreePort();
  const [, allowed = ''] = /WEBHOOK_ALLOWED_HOSTS=(\S+) npm start/.exec(blocks('sh')[0] ?? '') ?? [];
  platform = await startTestPlatform(
    import.meta.url,
    { WEBHOOK_ALLOWED_HOSTS: allowed },
    { services: ['api-gateway', 'conversations', 'directory', 'events'] },
  );
});
afterAll(async () => {
  receiver?.kill('SIGKILL');
  await platform.stop();
  rmSync(folder, { recursive: true });
});

/** Runs an admin CLI command from the guide. */
async function cli(line: string): Promise<string> {
  const words = [...line.replace('npm run --silent cli -- ', '').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
  const { code, stdout, stderr } = await platform.cli(...words);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

function start(secret: string): () => string {
  const [, text = ''] = /^```js\n([\s\S]*?)^```$/m.exec(guide) ?? [];
  writeFileSync(join(folder, 'receiver.mjs'), text);
  const env = { PATH: process.env['PATH'], WEBHOOK_SECRET: secret, PORT: String(port) };
  receiver = spawn(process.execPath, [join(folder, 'receiver.mjs')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  receiver.stdout?.on('data', (part: Buffer) => (printed += part.toString()));
  return () => printed;
}

describe('docs/guides/webhooks-out.md', () => {
  it('sets up a receiver step by step that receives a test event', async () => {
    const [, making = '', entering = '', posting = '', , testing = ''] = blocks('sh');
    let token = '';
    for (const line of making.split('\n')) token = (JSON.parse(await cli(line)) as { token?: string }).token ?? '';
    const login = entering.replace('http://localhost:8080', platform.baseUrl).replace('svc_key_…', token);
    expect(login).toBe(`export COHERENCE_URL=${platform.baseUrl} COHERENCE_KEY=${token}`);
    platform.logInCli(token);
    const made = JSON.parse((await run('sh', ['-c', `${login}\n${posting}`])).stdout) as {
      endpoint: object;
      secret: string;
    };
    const shown = JSON.parse(blocks('json')[0] ?? '') as typeof made;
    expect(made).toEqual({
      endpoint: expect.objectContaining(shown.endpoint),
      secret: expect.stringMatching(/^whsec_/),
    });

    const printed = start(made.secret);
    await waitFor(() => fetch(`http://localhost:${port}/`, { method: 'POST' }).then(({ status }) => status === 400));
    const [test = '', list = ''] = testing.split('\n');
    await cli(test);
    await waitFor(() => /^webhook_endpoint\.test evt_\w+$/m.test(printed()));
    await waitFor(async () => (await cli(list)).includes('delivered'));
    await platform.apply({ people: [{ key: 'new', name: 'New' }] });
    await waitFor(() => /^person\.created evt_\w+$/m.test(printed()));
  });
});
