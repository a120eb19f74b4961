import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CliOutcome, runCli, startService } from '#libs/product/testing';
import { directory } from '#services/directory';
import { askCli } from '../../ask-cli.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

const demoPassword = 'words-of-the-demo';
let fixture: DirectoryFixture;
let folder: string;
beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  await startService('agents', fixture.env);
  folder = mkdtempSync(join(tmpdir(), 'workspace-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await fixture.stop();
});

const cli = (args: readonly string[], variables: Record<string, string> = {}, input = ''): Promise<CliOutcome> =>
  runCli(args, { DEMO_PASSWORD: demoPassword, ...fixture.env.settings, ...variables }, input);

/** Runs a command in the test process and returns its output. Exit codes and printed text are not covered. */
const ask = (...args: string[]): Promise<unknown> => askCli(fixture.env.settings, ...args);

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('workspace apply FILE (rules/workspace#workspace-file)', () => {
  it('applies the demo workspace file, and reports no changes when it is applied again', async () => {
    const file = join('test', 'fixtures', 'demo-workspace.yaml');
    const dry = await cli(['workspace', 'apply', file, '--dry-run']);
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toContain('+ people ada');
    expect(dry.stdout).toContain('+ agents guide');
    await expect(fixture.env.sql('select count(*)::integer as n from directory.people')).resolves.toEqual([{ n: 0 }]);

    const first = await cli(['workspace', 'apply', file, '--json']);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const reply = JSON.parse(first.stdout) as { created: number; ids: Record<string, Record<string, number>> };
    expect(reply.ids['people']?.['ada']).toEqual(expect.any(Number));
    expect(reply.ids['agents']?.['guide']).toEqual(expect.any(Number));

    process.env['DEMO_PASSWORD'] = demoPassword;
    const second: unknown = await ask('workspace', 'apply', file);
    expect(second).toEqual({ created: 0, updated: 0, unchanged: reply.created, ids: reply.ids });
  });

  it('lists every error of a workspace file with its line, and changes nothing', async () => {
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
    const failure = JSON.parse((await cli(['workspace', 'apply', file, '--json'])).stdout) as {
      error: { code: string; details: object };
    };
    expect(failure.error).toMatchObject({ code: 'invalid_workspace', message: stderr.trimEnd() });
    expect(failure.error.details).toMatchObject({
      file,
      problems: { 0: { line: 4, path: 'people[1].name', message: 'must be text' } },
    });
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
    expect(lines.at(-1)).toBe('9 problems; nothing changed.');
    await expect(fixture.env.sql(`select 1 from directory.people where key = 'zoe'`)).resolves.toEqual([]);
  });

  it('reports syntax errors of YAML and JSON with line numbers', async () => {
    const yaml = await cli(['workspace', 'apply', write('bad.yaml', 'people:\n  - {key: a\nspheres: [\n')]);
    expect(yaml.code).toBe(1);
    expect(yaml.stderr).toMatch(/bad\.yaml:\d+: /);
    const json = await cli(['workspace', 'apply', write('bad.json', '{"people": [\n{"key": "a", "key": "b"}]}')]);
    expect(json.stderr).toMatch(/bad\.json:2: .*unique/);
    const missing = await cli(['workspace', 'apply', join(folder, 'missing.yaml')]);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('missing.yaml') });
  });

  it('applies a JSON file with environment variables as passwords, and keeps {env: …} in other fields as data', async () => {
    const document = {
      people: [{ key: 'env-person', name: 'Env', infos: { env: 'PATH', big: 1 } }],
      accounts: [{ email: 'env@example.org', person: 'env-person', password: { env: 'ENV_PASSWORD' } }],
    };
    const text = JSON.stringify(document).replace('"big":1', '"big":9007199254740993');
    const outcome = await cli(['workspace', 'apply', write('env.json', text)], {
      ENV_PASSWORD: 'from the environment',
    });
    expect(outcome).toMatchObject({ code: 0, stdout: '2 created, 0 updated, 0 unchanged.\n', stderr: '' });
    const [row] = await fixture.env.sql(`select infos::text from directory.people where key = 'env-person'`);
    expect(row).toEqual({ infos: '{"big": 9007199254740993, "env": "PATH"}' });
  });
});

describe('accounts create|set-password EMAIL over NATS, and confirmations', () => {
  it('creates an account and changes its password', async () => {
    const created = await cli(
      ['accounts', 'create', 'Cli@Example.org', '--password-env', 'P', '--group', 'coherence_users', '--json'],
      {
        P: 'one of a kind',
      },
    );
    expect(JSON.parse(created.stdout)).toMatchObject({
      email: 'Cli@Example.org',
      person_id: null,
      is_active: true,
      groups: ['coherence_users'],
    });
    const again = await cli(['accounts', 'create', 'cli@example.ORG']);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('belongs to another account') });
    const set = await cli(['accounts', 'set-password', 'cli@example.org', '--password-env', 'P'], {
      P: 'two of another',
    });
    expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining('Password set') });
  });

  it.each([
    ['keys', 'revoke', 'nothing'],
    ['agents', 'forget', 'guide', '--all'],
    ['agents', 'knowledge', 'reject', 'guide', '1'],
    ['media', 'orphans', '--delete'],
    ['events', 'prune', '--before', '1d'],
    ['endpoints', 'disable', '1'],
    ['backup', 'prune', '--keep-days', '1', '--from', tmpdir()],
  ])('rejects an irreversible command without a terminal or --yes: %s %s', async (...args) => {
    await expect(ask(...args)).rejects.toThrow(/^No terminal for the confirmation prompt; use --yes/);
  });

  it('reports unknown accounts, missing environment variables and wrong usage', async () => {
    const setPassword = ['accounts', 'set-password', 'nobody@example.org', '--password-env', 'P'];
    const P = 'three of a kind';
    await expect(cli(setPassword, { P })).resolves.toMatchObject({
      code: 1,
      stderr: 'No account has the email nobody@example.org. (account_not_found)\n',
    });
    const unknown = await cli([...setPassword, '--json'], { P });
    expect(JSON.parse(unknown.stdout)).toEqual({
      error: {
        code: 'not_found',
        reason: 'account_not_found',
        message: 'No account has the email nobody@example.org.',
      },
    });
    await expect(
      cli(['accounts', 'set-password', 'cli@example.org', '--password-env', 'UNSET_NAME']),
    ).resolves.toMatchObject({
      code: 1,
      stderr: 'The environment variable UNSET_NAME is not set.\n',
    });
    await expect(cli(['accounts', 'frobnicate'])).resolves.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('frobnicate'),
    });
  });
});

describe('workspace apply - and workspace export', () => {
  const secrets = {
    STEPS_LISTENING_TALK_WEBHOOK_SECRET: 'of a step',
    AGENTS_TESTER_MESSAGING_WEBHOOK_SECRET: 'of-a-bot',
  };
  /** A workspace file with values that an export followed by an import easily loses. */
  const document = `
classes: [{slug: a-root, label: "yes"}, {slug: a-leaf, parent: a-root, allowed_children: [a-root], private: true, config: {info_field_groups: []}}]
spheres: [{key: quiet, name: Quiet}, {key: loud, name: "1e3", is_active: false}]
journeys:
  - slug: listening
    name: Listening
    questions: [{text: "What now?"}, {text: "What now?"}]
    steps:
      - {slug: begin, title: "2026-01-01", config: {}}
      - {slug: talk, is_archived: true, config: {webhook: {secret: {env: STEPS_LISTENING_TALK_WEBHOOK_SECRET}, tries: 3}}}
people:
  - key: odd
    name: "null"
    description: "a\\u0085b \\u001b[2J\\u202e\\n  two lines: # no comment\\n"
    infos: {exact: 9007199254740993, list: [{gone: null}], "*": "&x", empty: {}, "a: b": "- c"}
    contact: {email: odd@example.org, telegram: "123"}
holons:
  - {slug: zz-child, name: Child, class: a-leaf, parent: zz-parent, spheres: [loud, quiet], locations: [de, fr], journeys: [listening]}
  - {slug: zz-parent, name: Parent, class: a-root, links: {web: "https://example.org/?a=b#c"}}
accounts: [{email: Odd@example.org, person: odd, active: false, teams: [{holon: zz-child, active: false}, {holon: zz-parent}]}]
memberships: [{person: odd, holon: zz-child, journey: listening, step: null}, {person: odd, holon: zz-parent, journey: listening}]
relationships:
  - {from: zz-child, to: zz-parent, journey: listening, follow_up_after: 2026-05-20, responsible: odd}
  - {key: second, from: zz-child, to: zz-parent}
agents:
  - {slug: tester, name: Tester, prompt: "Be\\n brief.", infos: {null: null}, config: {messaging: {webhook_secret: {env: AGENTS_TESTER_MESSAGING_WEBHOOK_SECRET}}, x: [1.5]}}
`;

  it('applies a workspace from standard input, and reports the position of each error', async () => {
    const applied = await cli(['workspace', 'apply', '-', '--json'], secrets, document);
    expect(JSON.parse(applied.stdout)).toMatchObject({ created: 14, updated: 0 });
    const wrong = await cli(['workspace', 'apply', '-'], {}, 'people:\n  - {key: a}\n  - {kee: b}\n');
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('standard input:3: people[1].kee: is not a known field');
    expect((await cli(['workspace', 'apply', '-'], {}, `# ${'x'.repeat(17_000_000)}`)).stderr).toMatch(
      /^standard input: is longer than 16777216 bytes; apply it as a file/,
    );
  });

  it('exports a workspace file without secrets that changes nothing when applied again, and reports rows that it cannot represent', async () => {
    await fixture.env.sql(`insert into directory.people (name) values ('Somebody without a key')`);
    await fixture.env.sql(`update directory.people set infos = infos || '{"<<": "merge"}' where key = 'odd'`);
    await fixture.env.sql(`insert into directory.memberships (person_id, holon_id)
      select p.id, h.id from directory.people p, directory.holons h where p.key is null and h.slug = 'zz-child'`);
    // A file with one step gives two steps the same position.
    await fixture.apply({ journeys: [{ slug: 'listening', steps: [{ slug: 'talk' }] }] });
    const file = join(folder, 'export.yaml');
    const written = await cli(['workspace', 'export', '--out', file, '--json']);
    expect(written).toMatchObject({ code: 0, stderr: '' });
    const report = JSON.parse(written.stdout) as {
      counts: Record<string, number>;
      left_out: unknown;
      variables: string[];
    };
    expect(report).toMatchObject({ left_out: { people: 1, memberships: 1 }, variables: Object.keys(secrets) });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const text = readFileSync(file, 'utf8');
    for (const secret of [...Object.values(secrets), 'argon2', demoPassword]) expect(text).not.toContain(secret);
    expect(await cli(['workspace', 'export', '--out', file])).toMatchObject({
      code: 1,
      stderr: `${file} exists already.\n`,
    });

    const same = await cli(['workspace', 'apply', file, '--dry-run', '--json'], secrets);
    const sum = Object.values(report.counts).reduce((total, count) => total + count, 0);
    expect(JSON.parse(same.stdout)).toMatchObject({ created: 0, updated: 0, unchanged: sum, diff: [] });
    const unset = await cli(['workspace', 'apply', file]);
    expect(unset).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /config\.webhook\.secret: the environment variable STEPS_LISTENING_TALK_WEBHOOK_SECRET is not set/,
      ),
    });
  });

  it('exports a workspace file, as YAML and JSON, that reproduces the data on an empty platform', async () => {
    const yaml = await cli(['workspace', 'export']);
    expect(yaml).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Omitted.*: 1 people, 1 memberships\.\nBefore the file is applied, set STEPS_/),
    });
    const json = await cli(['workspace', 'export', '--json']);
    const tables = await fixture.env.sql<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname in ('directory', 'agents') and tablename !~ 'migrations|jobs|outbox|audit'`,
    );
    for (const [text, flags] of [
      [yaml.stdout, []],
      [json.stdout, ['--json']],
    ] as const) {
      await fixture.env.sql(`truncate ${tables.map(({ name }) => name).join(', ')} restart identity cascade`);
      const applied = await cli(['workspace', 'apply', '-', '--json'], secrets, text);
      expect(JSON.parse(applied.stdout)).toMatchObject({ updated: 0, unchanged: 0 });
      expect((await cli(['workspace', 'export', ...flags])).stdout).toBe(text);
    }
    await expect(
      fixture.env.sql(`select name, description, infos::text from directory.people where key = 'odd'`),
    ).resolves.toEqual([
      {
        name: 'null',
        description: 'a\u0085b \u001b[2J\u202e\n  two lines: # no comment\n',
        infos:
          '{"*": "&x", "<<": "merge", "a: b": "- c", "list": [{"gone": null}], "empty": {}, "exact": 9007199254740993}',
      },
    ]);
  });

  it('reads a long list page by page', async () => {
    await fixture.env.sql(
      `insert into directory.spheres (key, name) select 'sphere-' || n, 'Sphere' from generate_series(1, 501) as n`,
    );
    const read = (after: number) => fixture.call(directory.rpcs.exportWorkspace, { list: 'spheres', after });
    const first = await read(0);
    expect(first.items).toHaveLength(500);
    const second = await read(first.next ?? 0);
    expect(second.next).toBeNull();
    const keys = [...first.items, ...second.items].map((item) => (item as { key: string }).key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.at(-1)).toBe('sphere-501');
  });
});
