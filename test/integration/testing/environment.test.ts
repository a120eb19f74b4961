import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestEnvironment, type TestEnvironment, waitFor } from '#libs/product/testing';

describe('createTestEnvironment', () => {
  let first: TestEnvironment;
  let second: TestEnvironment;

  beforeAll(async () => {
    [first, second] = await Promise.all([
      createTestEnvironment(import.meta.url),
      createTestEnvironment(import.meta.url),
    ]);
  });
  afterAll(async () => {
    await Promise.all([first.stop(), second.stop()]);
  });

  it('creates a separate database per environment', async () => {
    await first.sql('create table public.mark (value text)');
    await expect(first.sql('select count(*)::int as n from public.mark')).resolves.toEqual([{ n: 0 }]);
    await expect(second.sql('select 1 from public.mark')).rejects.toThrow(/mark/);
  });

  it('separates databases, prefixes and buckets of environments on shared servers', () => {
    expect(first.settings['NATS_SUBJECT_PREFIX']).not.toBe(second.settings['NATS_SUBJECT_PREFIX']);
    expect(first.settings['S3_BUCKET']).not.toBe(second.settings['S3_BUCKET']);
  });

  it('waitFor waits for a condition, and names a condition that was not met', async () => {
    let calls = 0;
    await expect(waitFor(() => ++calls === 3 && 'done', { intervalMs: 1 })).resolves.toBe('done');
    await expect(waitFor(() => undefined, { timeoutMs: 20, intervalMs: 5, what: 'a job' })).rejects.toThrow(
      'waited 20 ms for a job',
    );
  });
});
