/** `npm start` with existing external servers on foreign ports (README, Settings). */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';
import { sized } from '../drill.ts';
import { createLaunchpad, type Launch, type Launchpad } from './launch.ts';

let pad: Launchpad;
let env: TestEnvironment;
beforeEach(async () => void (pad = await createLaunchpad()));
afterEach(() => pad.clear());

/** Started first, because this launch retries for ten seconds while the other tests run. */
let lonelyPad: Launchpad;
let lonely: Launch;
beforeAll(async () => {
  lonelyPad = await createLaunchpad();
  lonely = lonelyPad.launch({
    DATABASE_URL: 'postgresql://ghost:hidden-1@127.0.0.1:1/nowhere',
    NATS_URL: 'nats://ghost:hidden-2@127.0.0.1:1',
    S3_ENDPOINT: 'http://127.0.0.1:1',
    S3_ACCESS_KEY_ID: 'key-of-mine',
    S3_SECRET_ACCESS_KEY: 'hidden-3-hidden-3-hidden-3',
  });
});
afterAll(() => lonelyPad.clear());

const parts = {
  PostgreSQL: ['DATABASE_URL'],
  NATS: ['NATS_URL', 'NATS_SUBJECT_PREFIX'],
  'Object store': [
    'S3_ENDPOINT',
    'S3_REGION',
    'S3_BUCKET',
    'S3_ACCESS_KEY_ID',
    'S3_SECRET_ACCESS_KEY',
    'S3_FORCE_PATH_STYLE',
  ],
} as const;
type Part = keyof typeof parts;
const all = Object.keys(parts) as Part[];
/** The combinations of external servers to test. Each start takes ten seconds. */
const combinations = sized<Part[][]>({ smoke: [all], release: [['PostgreSQL'], ['NATS'], ['Object store'], all] });

function bring(brought: readonly Part[]): Record<string, string> {
  return Object.fromEntries(brought.flatMap((part) => parts[part].map((name) => [name, env.settings[name] ?? ''])));
}

describe('npm start with external servers', () => {
  beforeAll(async () => void (env = await createTestEnvironment(import.meta.url)));
  afterAll(() => env.stop());

  it.each(combinations)('starts the platform with %s %s %s', async (...brought) => {
    const item = pad.launch(bring(brought));
    await pad.waitUntilReady(item);
    const own = pad.readRecord().map(({ name }) => name);
    expect(all.filter((part) => !own.includes(part))).toEqual(brought);
    const { settings } = JSON.parse(readFileSync(join(pad.dataDir, 'environment.json'), 'utf8')) as {
      settings: Record<string, string>;
    };
    expect(settings).toMatchObject(bring(brought));
    const login = await fetch(`http://127.0.0.1:${pad.port}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-svc-api-key': 'demo-login-secret' },
      body: JSON.stringify({ email: 'ada@example.org', password: 'coherence-demo-password' }),
    });
    expect(login.status).toBe(200);
  });

  it('reports which database user or database the server rejects', async () => {
    const wrong = new URL(env.settings['DATABASE_URL'] ?? '');
    wrong.pathname = '/nowhere';
    const store = { ...bring(['Object store']), S3_SECRET_ACCESS_KEY: 'hidden-3-hidden-3-hidden-3' };
    const item = pad.launch({ DATABASE_URL: wrong.href, ...store });
    await expect(item.status).resolves.toBe(1);
    expect(item.output()).toMatch(
      /PostgreSQL at .* \(database nowhere, user .*\): the database does not exist \(3D000\)\. Create it with createdb/,
    );
    expect(item.output()).toMatch(
      /the object store at .*: the credentials are wrong or have no access to the bucket \(403\)\. Correct S3_ENDPOINT/,
    );
    expect(item.output()).not.toContain('hidden');
  });

  it('reports for each unusable server the address, the cause and the solution, without secrets', async () => {
    const item = lonely;
    await expect(item.status).resolves.toBe(1);
    expect(item.output()).toContain(
      'PostgreSQL at 127.0.0.1:1 (database nowhere, user ghost): no server is listening (ECONNREFUSED). Start PostgreSQL, or correct DATABASE_URL.',
    );
    expect(item.output()).toContain(
      'NATS at 127.0.0.1:1 (user ghost): no server is listening (ECONNREFUSED). Start NATS, or correct NATS_URL.',
    );
    expect(item.output()).toContain(
      'the object store at 127.0.0.1:1 (bucket coherence, access key key-of-mine): no server is listening (ECONNREFUSED).',
    );
    expect(item.output()).not.toContain('hidden');
  });
});
