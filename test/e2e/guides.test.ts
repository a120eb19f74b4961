/** Runs the commands of the guides in order, as a reader would, and compares the documented responses. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

const run = promisify(execFile);
const guidesDir = join(import.meta.dirname, '..', '..', 'docs', 'guides');

const password = 'the right password';
let platform: TestPlatform;
let opsToken: string;
let editorToken: string;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  const account = { email: 'operator@example.org', person: 'operator', password, groups: ['ops_operators'] };
  const editor = {
    email: 'editor@example.org',
    person: 'chiara',
    password: 'coherence-demo-password',
    global_editor: true,
  };
  const people = [
    { key: 'operator', name: 'Operator' },
    { key: 'chiara', name: 'Chiara Rossi' },
  ];
  await platform.apply({ people, accounts: [account, editor] });
  opsToken = await platform.login(account.email, password);
  editorToken = await platform.login(editor.email, editor.password);
});
afterAll(() => platform.stop());

interface Block {
  readonly language: string;
  readonly text: string;
}

function readBlocks(guide: string): Block[] {
  const text = readFileSync(join(guidesDir, guide), 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', body = '']) => ({
    language,
    text: body,
  }));
}

/** Returns the documented output as an expectation; `…` matches any text, or further items at the end of a list. */
function expectation(shown: unknown): unknown {
  if (shown === '…') return expect.any(String);
  if (Array.isArray(shown))
    return shown.at(-1) === '…' ? expect.arrayContaining(shown.slice(0, -1).map(expectation)) : shown.map(expectation);
  if (typeof shown !== 'object' || shown === null) return shown;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(shown).map(([key, value]) => [key, expectation(value)])),
  );
}

describe.each(['../quickstart.md', 'api.md', 'operations-api.md'])('docs/guides/%s: commands', (guide) => {
  const blocks = readBlocks(guide);
  const commands = blocks.flatMap(({ language, text }, index) => {
    const next = blocks[index + 1];
    return language === 'sh' && next?.language === 'json' ? [{ command: text.trim(), shown: next.text }] : [];
  });

  it('contains at least one command', () => {
    expect(commands.length).toBeGreaterThan(2);
  });

  it.each(commands)('contains the actual output of $command', async ({ command, shown }) => {
    const { baseUrl: BASE, sharedToken: API_TOKEN, loginSecret: API_LOGIN_SECRET } = platform;
    const env = { ...process.env, BASE, API_TOKEN, API_LOGIN_SECRET, OPS_TOKEN: opsToken, TOKEN: editorToken };
    const { stdout } = await run('sh', ['-c', command], { env });
    expect(JSON.parse(stdout)).toEqual(expectation(JSON.parse(shown)));
  });
});

describe('docs/guides/privacy.md', () => {
  const text = readFileSync(join(guidesDir, 'privacy.md'), 'utf8');

  it('describes contents and retention of every database table', async () => {
    const rows = await platform.sql<{ name: string }>(
      `select table_schema || '.' || table_name as name from information_schema.tables
       where table_schema in ('agents', 'conversations', 'directory', 'events', 'media', 'transcripts') and table_type = 'BASE TABLE'
         and table_name !~ '^feed_([0-9]+|other)$' order by 1`,
    );
    // Returns whether the page must name the table. Join tables have no data besides the joined ids, and tables that
    // every service has are described once.
    const isOwn = (name: string): boolean =>
      !/(^|\.)(jobs|job_attempts|outbox|handed_over|audit_log|audit_head)$|migrations$|_notes$|_journeys$|_spheres$|_children$|_rows_\w+$/.test(
        name,
      );
    const missing = rows.map(({ name }) => name).filter((name) => isOwn(name) && !text.includes(`\`${name}\``));
    expect(missing).toEqual([]);
  });

  it('refers only to existing settings', () => {
    const settings = readFileSync(join(guidesDir, '..', 'settings.md'), 'utf8');
    const names = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name = '']) => name);
    expect([...new Set(names)].filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
  });
});
