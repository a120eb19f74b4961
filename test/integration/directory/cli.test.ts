import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startService } from '#libs/testing';
import { createWorld, type World } from './world.ts';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const repoDir = join(import.meta.dirname, '..', '..', '..');
let world: World;
let folder: string;
beforeAll(async () => {
  world = await createWorld(import.meta.url);
  await startService('agents', world.env);
  folder = mkdtempSync(join(tmpdir(), 'workspace-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.stop();
});

function cli(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = {
      cwd: repoDir,
      env: { ...process.env, NODE_OPTIONS: '', DEMO_PASSWORD: 'words-of-the-demo', ...world.env.settings, ...env },
    };
    execFile(process.execPath, ['tools/cli/main.ts', ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('workspace apply FILE (architecture §7)', () => {
  it('applies the demo workspace, then finds nothing to change', async () => {
    const file = join('test', 'fixtures', 'demo-workspace.yaml');
    const dry = await cli(['workspace', 'apply', file, '--dry-run']);
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toContain('+ people ada');
    expect(dry.stdout).toContain('+ agents guide');
    await expect(world.env.sql('select count(*)::integer as n from directory.people')).resolves.toEqual([{ n: 0 }]);

    const first = await cli(['workspace', 'apply', file, '--json']);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const reply = JSON.parse(first.stdout) as { created: number; ids: Record<string, Record<string, number>> };
    expect(reply.ids['people']?.['ada']).toEqual(expect.any(Number));
    expect(reply.ids['agents']?.['guide']).toEqual(expect.any(Number));

    const second = JSON.parse((await cli(['workspace', 'apply', file, '--json'])).stdout) as object;
    expect(second).toEqual({ created: 0, updated: 0, unchanged: reply.created, ids: reply.ids });
  });

  it('lists every error with its line and changes nothing', async () => {
    const file = write(
      'wrong.yaml',
      [
        'people:', // 1
        '  - {key: zoe, name: Zoe}', // 2
        '  - key: yan', // 3
        '    name: 7', // 4
        '    contct: {}', // 5
        'accounts:', // 6
        '  - {email: zoe@example.org, person: nobody, password: {env: NOT_SET_ANYWHERE}}', // 7
        'memberships:', // 8
        '  - {person: zoe, holon: nowhere, journey: open-circle, step: nope}', // 9
        'conversations:', // 10
        '  - {key: old, jurney: x}', // 11
        'gadgets: []', // 12
        'agents:', // 13
        '  - {slug: helper}', // 14
        '',
      ].join('\n'),
    );
    const { code, stderr, stdout } = await cli(['workspace', 'apply', file]);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    const lines = stderr.trimEnd().split('\n');
    const failure = JSON.parse((await cli(['workspace', 'apply', file, '--json'])).stdout) as { error: { code: string; details: object } };
    expect(failure.error).toMatchObject({ code: 'invalid_workspace', message: stderr.trimEnd() });
    expect(failure.error.details).toMatchObject({ file, problems: { 0: { line: 4, path: 'people[1].name', message: 'must be text' } } });
    expect(lines.slice(0, -1).map((line) => line.replace(`${file}:`, ''))).toEqual([
      '4: people[1].name: must be text',
      '5: people[1].contct: is not a known field',
      '7: accounts[0].password: the environment variable NOT_SET_ANYWHERE is not set',
      '7: accounts[0].person: there is no person "nobody" in the file or the database',
      '9: memberships[0].holon: there is no holon "nowhere" in the file or the database',
      '9: memberships[0].step: journey "open-circle" has no step "nope"',
      '11: conversations[0].jurney: is not a known field',
      expect.stringMatching(/^12: gadgets: is not a list of the workspace file/),
      expect.stringMatching(/^14: agents\[0\]/),
    ]);
    expect(lines.at(-1)).toBe('9 problems; nothing was changed.');
    await expect(world.env.sql(`select 1 from directory.people where key = 'zoe'`)).resolves.toEqual([]);
  });

  it('tells syntax errors of YAML and JSON with their lines', async () => {
    const yaml = await cli(['workspace', 'apply', write('bad.yaml', 'people:\n  - {key: a\nspheres: [\n')]);
    expect(yaml.code).toBe(1);
    expect(yaml.stderr).toMatch(/bad\.yaml:\d+: /);
    const json = await cli(['workspace', 'apply', write('bad.json', '{"people": [\n{"key": "a", "key": "b"}]}')]);
    expect(json.stderr).toMatch(/bad\.json:2: .*unique/);
    const missing = await cli(['workspace', 'apply', join(folder, 'missing.yaml')]);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('missing.yaml') });
  });

  it('takes JSON, variables of the environment, and leaves {env: …} alone where it is data', async () => {
    const document = {
      people: [{ key: 'env-person', name: 'Env', infos: { env: 'PATH', big: 1 } }],
      accounts: [{ email: 'env@example.org', person: 'env-person', password: { env: 'ENV_PASSWORD' } }],
    };
    const text = JSON.stringify(document).replace('"big":1', '"big":9007199254740993');
    const outcome = await cli(['workspace', 'apply', write('env.json', text)], { ENV_PASSWORD: 'from the environment' });
    expect(outcome).toMatchObject({ code: 0, stdout: '2 created, 0 updated, 0 unchanged.\n', stderr: '' });
    const [row] = await world.env.sql(`select infos::text from directory.people where key = 'env-person'`);
    expect(row).toEqual({ infos: '{"big": 9007199254740993, "env": "PATH"}' });
  });
});

describe('accounts list, accounts create|set-password|deactivate|grant|delete EMAIL', () => {
  it('creates, grants, changes the password and deactivates', async () => {
    const created = await cli(['accounts', 'create', 'Cli@Example.org', '--password-env', 'P', '--group', 'coherence_users', '--json'], {
      P: 'one of a kind',
    });
    expect(JSON.parse(created.stdout)).toMatchObject({
      email: 'Cli@Example.org',
      person_id: null,
      is_active: true,
      groups: ['coherence_users'],
    });
    const again = await cli(['accounts', 'create', 'cli@example.ORG']);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('already') });
    const granted = await cli(['accounts', 'grant', 'cli@example.org', '--superuser', '--remove-group', 'coherence_users', '--json']);
    expect(JSON.parse(granted.stdout)).toMatchObject({ superuser: true, groups: [] });
    const same = await cli(['accounts', 'grant', 'cli@example.org', '--superuser']);
    expect(same).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Nothing was changed: Cli@Example\.org is so already\.\nstate: +active\n/),
    });
    const set = await cli(['accounts', 'set-password', 'cli@example.org', '--password-env', 'P'], { P: 'two of another' });
    expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining('Password set') });
    const gone = await cli(['accounts', 'deactivate', 'cli@example.org', '--json']);
    expect(JSON.parse(gone.stdout)).toMatchObject({ is_active: false, changed: true });
    const twice = await cli(['accounts', 'deactivate', 'cli@example.org', '--json']);
    expect(JSON.parse(twice.stdout)).toMatchObject({ is_active: false, changed: false });
    const changed = await cli(['accounts', 'grant', 'cli@example.org', '--activate']);
    expect(changed.stdout).toMatch(/^Changed: Cli@Example\.org\nstate: +active\n/);
  });

  it('lists a page and deletes when it may not ask and need not', async () => {
    const listed = await cli(['accounts', 'list', '--superuser', '--after', 'b@example.org', '--limit', '1', '--json']);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ email: 'Cli@Example.org', is_active: true, has_password: true }]);
    expect((await cli(['accounts', 'list', '--limit', '1'])).stdout).toMatch(/^EMAIL +STATE .*\n.*\nThere are more: --after \S+@/);
    await expect(cli(['accounts', 'list', '--group', 'users'])).resolves.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no group "users"; there is coherence_users.'),
    });
    await expect(cli(['accounts', 'delete', 'cli@example.org'])).resolves.toMatchObject({
      code: 1,
      stderr: 'There is no terminal to ask for confirmation; use --yes.\n',
    });
    const deleted = await cli(['accounts', 'delete', 'cli@example.org', '--yes', '--json']);
    expect(JSON.parse(deleted.stdout)).toMatchObject({ email: 'Cli@Example.org' });
    expect((await cli(['accounts', 'delete', 'cli@example.org', '--yes'])).stderr).toContain(
      'There is no account with the email cli@example.org.',
    );
  });

  it('fails readably for unknown accounts, missing variables and wrong usage', async () => {
    await expect(cli(['accounts', 'deactivate', 'nobody@example.org'])).resolves.toMatchObject({
      code: 1,
      stderr: 'There is no account with the email nobody@example.org. (account_not_found)\n',
    });
    const unknown = await cli(['accounts', 'deactivate', 'nobody@example.org', '--json']);
    expect(JSON.parse(unknown.stdout)).toEqual({
      error: { code: 'not_found', reason: 'account_not_found', message: 'There is no account with the email nobody@example.org.' },
    });
    await expect(cli(['accounts', 'set-password', 'cli@example.org', '--password-env', 'UNSET_NAME'])).resolves.toMatchObject({
      code: 1,
      stderr: 'The environment variable UNSET_NAME is not set.\n',
    });
    await expect(cli(['accounts', 'frobnicate'])).resolves.toMatchObject({ code: 2, stderr: expect.stringContaining('frobnicate') });
  });
});
