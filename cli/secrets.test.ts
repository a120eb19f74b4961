import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isPublicSecret, minSecretLength } from '#libs/infrastructure/config';
import { readPlatformFacts } from '../tools/generate/chart.ts';
import { secretKeyOf } from '../libs/product/servers/service-accounts.ts';

const program = join(import.meta.dirname, 'main.ts');
let folder: string;
let printed: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coherence-secrets-'));
  printed = generate();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the command in a folder without a platform and without an address of one. */
const options = () =>
  ({ cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'], COHERENCE_DATA_DIR: folder } }) as const;
const generate = (...args: string[]): string =>
  execFileSync(process.execPath, [program, 'secrets', 'generate', ...args], options());

describe('secrets generate', () => {
  it('prints an env file with unique secrets, which every service configuration accepts', () => {
    const [first, second] = [parseEnv(printed), parseEnv(generate())];
    expect(Object.keys(first)).toEqual(
      expect.arrayContaining([
        'API_TOKEN',
        'API_LOGIN_SECRET',
        'BOOKING_WEBHOOK_SECRET',
        'ACTOR_SIGNING_KEY',
        'ADMIN_PASSWORD',
        'POSTGRES_PASSWORD_MEDIA',
      ]),
    );
    for (const [name, value = ''] of Object.entries(first)) {
      if (name === 'CONVERSATION_ACCESS') continue;
      expect(second[name]).not.toBe(value);
      expect(isPublicSecret(value)).toBe(false);
      expect(value).toMatch(/^[A-Za-z][A-Za-z0-9+/=_-]*$/);
      if (name !== 'S3_ACCESS_KEY_ID') expect(value.length).toBeGreaterThanOrEqual(minSecretLength);
    }
  });

  it('prints the settings that an operator must decide, each with the safe choice and its meaning (D92)', () => {
    expect(printed).toMatch(
      /^# Access of accounts to conversations.*`members`.*`open`: all\nCONVERSATION_ACCESS=members$/m,
    );
  });

  it('prints one JSON object with --json', () => {
    expect(Object.keys(JSON.parse(generate('--json')) as object).toSorted()).toEqual(
      Object.keys(parseEnv(printed)).toSorted(),
    );
  });

  it('writes a file that only its owner can read with --out, and never overwrites a file', () => {
    expect(generate('--out', '.env')).toMatch(/^Wrote \d+ secrets to \.env, readable only by its owner\.$/m);
    const file = join(folder, '.env');
    const text = readFileSync(file, 'utf8');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = spawnSync(process.execPath, [program, 'secrets', 'generate', '--out', '.env'], options());
    expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('.env exists already') });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('generates the Kubernetes Secret of the chart, with server addresses when they are specified', async () => {
    const made = parseEnv(generate('--postgresql', 'db.example.org:5432/coherence', '--nats', 'nats.example.org'));
    const needed = Object.entries((await readPlatformFacts()).components).flatMap(([component, { settings }]) =>
      Object.entries(settings)
        .filter(([, { secret, required, neededUnless }]) => secret && (required || neededUnless !== undefined))
        .map(([name]) => secretKeyOf(component, name)),
    );
    expect(
      [...needed, 'DATABASE_URL_ADMIN', 'DATABASE_URL_AUDIT', 'NATS_URL_ADMIN'].filter(
        (name) => made[name] === undefined,
      ),
    ).toEqual([]);
    expect(made['DATABASE_URL_MEDIA']).toMatch(
      /^postgresql:\/\/coherence_media:[\w-]{43}@db\.example\.org:5432\/coherence$/,
    );
    expect(made['NATS_URL_GATEWAY']).toMatch(/^nats:\/\/api-gateway:[\w-]{43}@nats\.example\.org$/);
  });

  it.each([
    [['--postgresql', 'db/coherence'], '--nats must be host:port'],
    [['--nats', 'nats:4222'], '--postgresql must be host:port/database'],
    [['--nats', 'nats:4222', '--postgresql', 'postgresql://db/coherence'], '--postgresql must be host:port/database'],
    [['--nats', 'user@nats:4222', '--postgresql', 'db/coherence'], '--nats must be host:port'],
  ])('rejects the arguments %j with an explanation', (args, message) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [program, 'secrets', 'generate', ...args],
      options(),
    );
    expect({ status, stdout, stderr }).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});
