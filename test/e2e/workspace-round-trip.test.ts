/**
 * A workspace that is built over HTTP alone, exported, and applied to an empty installation, where the demo runs (W11).
 * The file of the demo workspace is the source of the requests.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { createDemoSettings, runDemo } from './run-demo.ts';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

type Item = Record<string, any>;

const password = 'a-password-of-the-round-trip';
let platform: TestPlatform;
let settings: Record<string, string>;
let token: string;
let folder: string;

beforeAll(async () => {
  settings = { ...(await createDemoSettings()), DEMO_PASSWORD: password };
  platform = await startTestPlatform(import.meta.url, settings);
  await platform.apply({
    accounts: [{ email: 'root@example.org', password, superuser: true, person: 'root' }],
    people: [{ key: 'root', name: 'Root' }],
  });
  token = await platform.login('root@example.org', password);
  platform.logInCli(token);
  folder = mkdtempSync(join(tmpdir(), 'round-trip-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await platform.stop();
});

/** Sends a request that must succeed. */
async function send(path: string, json: unknown, method = 'POST'): Promise<any> {
  const answer = await platform.call(method, path, { token, json });
  if (answer.status >= 300)
    throw new Error(`${method} ${path} ${JSON.stringify(json)}: ${answer.status} ${answer.text}`);
  return answer.json;
}
const post = (path: string, json: unknown) => send(`/api/v1${path}`, json);

const without = (item: Item, ...fields: string[]): Item =>
  Object.fromEntries(Object.entries(item).filter(([field]) => !fields.includes(field)));
const renamed = (item: Item, names: Record<string, string>): Item =>
  Object.fromEntries(Object.entries(item).map(([field, value]) => [names[field] ?? field, value]));

/** Creates the items of a workspace file with the operations of the open API. */
async function build(file: Record<string, Item[]>): Promise<void> {
  const ids = new Map<string, number>();
  const idOf = (list: string, key: unknown): number => ids.get(`${list}/${String(key)}`) ?? 0;
  for (const { key, name, is_active: isActive } of file['spheres'] ?? []) {
    const { sphere } = await post('/spheres', { name });
    ids.set(`spheres/${key}`, sphere.id);
    if (isActive === false) await post(`/spheres/${sphere.id}/update`, { is_active: false });
  }
  for (const item of file['classes'] ?? []) await post('/classes', without(item, 'allowed_children', 'journeys'));
  for (const item of file['journeys'] ?? []) {
    const steps = (item['steps'] as Item[]).map((step) => without(step, 'config'));
    const { journey } = await post('/journeys', { ...item, steps });
    ids.set(`journeys/${item['slug']}`, journey.id);
    for (const { slug, config } of item['steps'] as Item[])
      if (config !== undefined)
        await send(`/api/coherence/journeys/${item['slug']}/steps/${slug}/config`, { config }, 'PATCH');
  }
  for (const { slug, allowed_children, journeys } of file['classes'] ?? [])
    if (allowed_children !== undefined || journeys !== undefined)
      await post(`/classes/holon/${slug}/update`, {
        allowed_children: allowed_children ?? [],
        journeys: journeys ?? [],
      });
  for (const item of file['people'] ?? [])
    ids.set(`people/${item['key']}`, (await post('/people', without(item, 'key', 'infos'))).person.id);
  for (const item of file['holons'] ?? []) {
    const { spheres, journeys, parent, infos } = item;
    const request = {
      ...without(item, 'parent', 'spheres', 'journeys', 'infos'),
      ...(typeof parent === 'string' ? { parent_id: idOf('holons', parent) } : {}),
      ...(spheres === undefined ? {} : { spheres: spheres.map((key: string) => idOf('spheres', key)) }),
      ...(journeys === undefined ? {} : { journey_ids: journeys.map((key: string) => idOf('journeys', key)) }),
      ...(infos === undefined ? {} : { info_fields: infos }),
    };
    ids.set(`holons/${item['slug']}`, (await post('/holons', request)).holon.id);
  }
  for (const item of file['accounts'] ?? []) {
    const teams = (item['teams'] as Item[] | undefined)?.map(({ holon, active }) => ({
      holon_id: idOf('holons', holon),
      active,
    }));
    await post('/accounts', {
      ...without(item, 'person', 'password', 'teams'),
      ...(item['person'] === undefined ? {} : { person_id: idOf('people', item['person']) }),
      ...(teams === undefined ? {} : { teams }),
    });
  }
  const workflow = (item: Item): Item => ({
    ...renamed(without(item, 'key', 'person', 'holon', 'from', 'to', 'responsible'), {
      journey: 'journey_slug',
      step: 'step_slug',
    }),
    ...(item['responsible'] === undefined ? {} : { responsible_person_id: idOf('people', item['responsible']) }),
  });
  for (const item of file['memberships'] ?? [])
    await post('/memberships', {
      person_id: idOf('people', item['person']),
      holon_id: idOf('holons', item['holon']),
      ...workflow(item),
    });
  for (const item of file['relationships'] ?? [])
    await post('/relationships', {
      from_holon_id: idOf('holons', item['from']),
      to_holon_id: idOf('holons', item['to']),
      ...workflow(item),
    });
  for (const item of file['agents'] ?? []) await post('/agents', item);
}

async function empty(): Promise<void> {
  const tables = await platform.sql<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('directory', 'agents') and tablename !~ 'migrations|jobs|outbox|audit'`,
  );
  await platform.sql(`truncate ${tables.map(({ name }) => name).join(', ')} restart identity cascade`);
}

describe('a workspace built over HTTP (W11)', () => {
  it('is exported to a file that recreates it in an empty installation, with an empty diff', async () => {
    const demo = parse(readFileSync('test/fixtures/demo-workspace.yaml', 'utf8')) as Record<string, Item[]>;
    await build(demo);
    const exported = await platform.cli('workspace', 'export');
    expect(exported.stderr).not.toContain('Omitted');
    const document = parse(exported.stdout) as Record<string, Item[]>;
    for (const list of Object.keys(demo))
      expect([list, document[list]?.length]).toEqual([
        list,
        (demo[list]?.length ?? 0) + (list === 'people' || list === 'accounts' ? 1 : 0),
      ]);
    const keys = document['people']?.map(({ key }) => key as string) ?? [];
    expect(keys.filter((key) => key !== 'root')).toEqual(
      keys.slice(1).map(() => expect.stringMatching(/^person-[0-9a-f]{16}$/)),
    );

    const file = join(folder, 'export.yaml');
    writeFileSync(file, exported.stdout);
    expect(await platform.cli('workspace', 'diff', file)).toMatchObject({ code: 0, stdout: 'No changes.\n' });
    await empty();
    const applied = await platform.cli('workspace', 'apply', file);
    expect(applied).toMatchObject({ code: 0, stderr: '' });
    expect(await platform.cli('workspace', 'diff', file, '--json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"diff": []'),
    });
    expect((await platform.cli('workspace', 'export')).stdout).toBe(exported.stdout);
  });

  it('plays the demo in the recreated installation', async () => {
    // A file has no passwords. Its accounts get theirs by invitations, or like here.
    const set = await platform.cli('accounts', 'set-password', 'ada@example.org', '--password-env', 'DEMO_PASSWORD');
    expect(set).toMatchObject({ code: 0 });
    const played = await runDemo(platform, settings);
    expect([played.code, played.stderr]).toEqual([0, '']);
    expect(played.stdout).toContain('the import has moved the conversation to "Review"');
    expect(played.stdout).toContain('Done in ');
  }, 60_000);
});

describe('workspace diff and export of a selection (W11, W24)', () => {
  const write = (text: string): string => {
    const file = join(folder, 'changes.yaml');
    writeFileSync(file, text);
    return file;
  };

  it('exits with 3 and lists fields, edited or not', async () => {
    const file = write('agents: [{slug: guide, name: Guide two}]\nholons: [{slug: council, name: The council}]\n');
    const differs = await platform.cli('workspace', 'diff', file, '--json');
    expect(differs.code).toBe(3);
    expect(JSON.parse(differs.stdout).diff).toEqual([
      {
        list: 'holons',
        key: 'council',
        action: 'update',
        fields: [{ field: 'name', old: 'Council', new: 'The council', edited: false }],
      },
      {
        list: 'agents',
        key: 'guide',
        action: 'update',
        fields: [{ field: 'name', old: 'Guide', new: 'Guide two', edited: false }],
      },
    ]);
  });

  it('exits with 1 and names the line of a file that cannot be read', async () => {
    expect(await platform.cli('workspace', 'diff', write('people:\n  - {key: [}\n'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/changes\.yaml:\d+: /),
    });
    expect(await platform.cli('workspace', 'diff', write('people:\n  - {kee: a}\n'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/changes\.yaml:2: /),
    });
  });

  it('exports selected lists and items, and rejects unknown ones', async () => {
    const { stdout } = await platform.cli(
      'workspace',
      'export',
      '--only',
      'spheres,agents:guide,memberships',
      '--json',
    );
    const document = JSON.parse(stdout) as Record<string, Item[]>;
    expect(Object.keys(document)).toEqual(['spheres', 'memberships', 'agents']);
    expect(document['agents']?.map(({ slug }) => slug)).toEqual(['guide']);
    expect((await platform.cli('workspace', 'export', '--only', 'agents:none')).stderr).toContain(
      'agents has no item none',
    );
    const unknown = await platform.cli('workspace', 'export', '--only', 'gadgets');
    expect([unknown.code, unknown.stdout]).toEqual([2, '']);
  });
});
