import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Type } from '#libs/infrastructure/contract';
import {
  ConfigError,
  databaseSettings,
  loadConfig,
  logSettings,
  telemetrySettings,
  natsSettings,
  portSetting,
  readEnvironment,
  s3Settings,
  webhookHostSettings,
} from './index.ts';

const schema = Type.Object({
  ...natsSettings,
  ...logSettings,
  ...telemetrySettings,
  PORT: portSetting('public HTTP', 8080),
  FORCE: Type.Boolean({ default: false }),
  RATIO: Type.Optional(Type.Number()),
  NOTE: Type.Optional(Type.String()),
});

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(schema, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('settings from files (SECRETS_DIR)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coherence-secrets-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('prefers settings from files to variables of the same name, removes the last line break, and ignores other files', () => {
    mkdirSync(join(folder, '..data'));
    writeFileSync(join(folder, '..data', 'NATS_URL'), 'nats://mounted:4222\n');
    symlinkSync(join('..data', 'NATS_URL'), join(folder, 'NATS_URL'));
    writeFileSync(join(folder, 'read.me'), 'x');
    const env = readEnvironment({ SECRETS_DIR: folder, NATS_URL: 'nats://variable:4222', LOG_LEVEL: 'warn' });
    expect(env).toEqual({ SECRETS_DIR: folder, NATS_URL: 'nats://mounted:4222', LOG_LEVEL: 'warn' });
    expect(loadConfig(Type.Object(natsSettings), env).NATS_URL).toBe('nats://mounted:4222');
  });

  it('rejects a missing SECRETS_DIR, and reads no files when SECRETS_DIR is not set', () => {
    expect(() => readEnvironment({ SECRETS_DIR: join(folder, 'absent') })).toThrow(/ENOENT.*absent/);
    expect(readEnvironment({ LOG_LEVEL: 'warn' })).toEqual({ LOG_LEVEL: 'warn' });
  });
});

describe('loadConfig (architecture#configuration)', () => {
  it('reads text, numbers and booleans from the environment, with defaults for unset variables', () => {
    const config = loadConfig(schema, {
      NATS_URL: 'nats://localhost:4222',
      PORT: '9000',
      FORCE: 'TRUE',
      RATIO: '0.5',
      OTHER: 'x',
    });
    const declared = Object.entries(telemetrySettings as Record<string, { readonly default?: unknown }>);
    expect(config).toEqual({
      ...Object.fromEntries(
        declared.flatMap(([name, { default: value }]) => (value === undefined ? [] : [[name, value]])),
      ),
      NATS_URL: 'nats://localhost:4222',
      NATS_SUBJECT_PREFIX: '',
      NODE_ENV: '',
      LOG_LEVEL: 'info',
      METRICS_HOST: '127.0.0.1',
      METRICS_PORT: 9090,
      METRICS_TOKEN: '',
      OTEL_EXPORTER_OTLP_HEADERS: '',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: 1,
      PORT: 9000,
      FORCE: true,
      RATIO: 0.5,
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('parses host lists with commas and white space, and reports a list with an invalid entry (D90)', () => {
    const read = (value: string) => {
      try {
        return loadConfig(Type.Object(webhookHostSettings), { WEBHOOK_ALLOWED_HOSTS: value }).WEBHOOK_ALLOWED_HOSTS;
      } catch (error) {
        return String(error);
      }
    };
    for (const value of [
      'a',
      'a:80, b',
      ' a\n\tb ',
      ',',
      'http://a/',
      '[::1]:8443',
      '::1 fe80::1',
      '10.0.0.1:8080,hooks_in.local',
      'bücher.example',
    ])
      expect([value, read(value)]).toEqual([value, value]);
    for (const value of ['a/path', 'a:b', 'a:123456', 'ftp://a', 'user@a', '*.a', 'a;b', '[::1', 'http://'])
      expect(read(value)).toContain(
        'WEBHOOK_ALLOWED_HOSTS must be a list of host[:port] or http://host[:port], separated by commas or white space',
      );
  });

  it('treats an empty variable as unset', () => {
    expect(loadConfig(schema, { NATS_URL: 'nats://x', PORT: '', NOTE: '' })).toMatchObject({ PORT: 8080 });
    expect(problemsOf({ NATS_URL: '' })).toEqual([expect.stringMatching(/^NATS_URL is missing/)]);
  });

  it('reports all problems of a configuration together in readable sentences', () => {
    const problems = problemsOf({
      NATS_URL: 'localhost',
      LOG_LEVEL: 'loud',
      PORT: '70000',
      METRICS_PORT: '9,090',
      FORCE: 'maybe',
      RATIO: 'half',
    });
    expect(problems).toEqual([
      'NATS_URL must be a URL that starts with nats:// or tls:// (NATS server, e.g. nats://localhost:4222, or several separated by commas)',
      expect.stringContaining('LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent'),
      'METRICS_PORT must be a whole number (metrics and health)',
      'PORT must be <= 65535 (public HTTP)',
      'FORCE must be true or false',
      expect.stringMatching(/^RATIO must be/),
    ]);
  });

  it.each(['1e3', '0x10', '12 ', '1.0', ''])(
    'rejects "%s" as a whole number, and uses the default for an empty variable',
    (text) => {
      expect(problemsOf({ NATS_URL: 'nats://x', PORT: text })).toHaveLength(text === '' ? 0 : 1);
    },
  );

  it('never prints the value of a variable, which may be a secret', () => {
    const secret = 'hunter2-hunter2';
    const all = Type.Object({ ...databaseSettings, ...s3Settings });
    expect(() => loadConfig(all, { DATABASE_URL: secret, S3_ENDPOINT: secret })).toThrow(ConfigError);
    expect(() => loadConfig(all, { DATABASE_URL: secret, S3_ENDPOINT: secret })).not.toThrow(secret);
  });
});
