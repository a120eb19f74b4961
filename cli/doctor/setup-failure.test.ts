import { describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { makeStreams } from '../../tools/streams.ts';
import { migrateServices } from '#libs/infrastructure/migrations';
import { brokerTarget, databaseTarget } from './servers.ts';
import { describeSetupFailure } from './setup-failure.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

describe('failures of migrations and of the stream set-up (rules/operations#migrations-and-streams)', () => {
  it.each([
    [
      'postgresql://ann:hidden@127.0.0.1:1/coherence',
      /^PostgreSQL at 127\.0\.0\.1:1 \(database coherence, user ann\): .*\(ECONNREFUSED\)/,
    ],
    [
      'postgresql://ann:hidden@127.0.0.1:1,127.0.0.1:2/coherence',
      /^PostgreSQL at 127\.0\.0\.1:1, 127\.0\.0\.1:2 .*\(ECONNREFUSED\)/,
    ],
    [
      'postgresql://ann:hidden@nowhere.invalid/coherence',
      /^PostgreSQL at nowhere\.invalid:5432 .*\((ENOTFOUND|EAI_AGAIN)\)/,
    ],
    [
      'postgresql://ann:hidden@localhost:1/coherence?sslmode=verify-full&sslrootcert=/no/such.pem',
      /\(ENOENT: [^)]*\/no\/such\.pem/,
    ],
  ])('reports host, code and cause of failed migrations at %s', async (url, expected) => {
    const error: unknown = await migrateServices({ url, logger }).catch((reason: unknown) => reason);
    const text = await describeSetupFailure(error, () => databaseTarget(url));
    expect(text).toMatch(expected);
    expect(text).not.toMatch(/hidden|\n/);
  });

  it.each([
    ['nats://ann:hidden@127.0.0.1:1', /^NATS at 127\.0\.0\.1:1 \(user ann\): .*\(ECONNREFUSED\)/],
    ['nats://ann:hidden@nowhere.invalid', /^NATS at nowhere\.invalid:4222 .*\((ENOTFOUND|EAI_AGAIN)\)/],
    ['nats://127.0.0.1:1?creds_file=/no/such.creds', /: a file does not exist \(ENOENT: [^)]*\/no\/such\.creds/],
    ['nats://127.0.0.1:1?nkey_seed_file=/', /: a file cannot be read \(EISDIR: /],
    [
      `nats://127.0.0.1:1?creds_file=${import.meta.filename}`,
      /: a file with credentials is malformed \(NATS_CREDS_FILE \/[^)]*setup-failure\.test\.ts\)/,
    ],
  ])('reports host, code and cause of a failed stream set-up at %s', async (url, expected) => {
    const error: unknown = await makeStreams({ url, prefix: '', logger, connectTimeoutMs: 1 }).catch(
      (reason: unknown) => reason,
    );
    const text = await describeSetupFailure(error, () => brokerTarget(url));
    expect(text).toMatch(expected);
    expect(text).not.toMatch(/hidden|\n/);
  });

  it('reports an internal error of the set-up with its code location', async () => {
    const text = await describeSetupFailure(new Error('a mistake'), () => brokerTarget('nats://localhost'));
    expect(text).toMatch(/a mistake\n.*setup-failure\.test\.ts/);
  });
});
