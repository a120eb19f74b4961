import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestEnvironment, runCli, startPlatform, type TestEnvironment, waitFor } from '#libs/product/testing';
import type { CliOutcome } from '#libs/product/testing';
import { askCli } from '../../ask-cli.ts';
import { createOperatorLogin } from '../../operator-login.ts';

const ids = {
  lost: '01900000-0000-7000-8000-000000000001',
  other: '01900000-0000-7000-8000-000000000002',
  third: '01900000-0000-7000-8000-000000000003',
  later: '01900000-0000-7000-8000-000000000004',
  useless: '01900000-0000-7000-8000-000000000005',
};

describe('CLI: jobs list|show|redrive|discard|cancel (architecture#jobs; rules/cli#admin-cli)', () => {
  let env: TestEnvironment;
  let settings: Record<string, string>;

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    const dead = `'dead', 3, 'The store was away', now()`;
    for (const id of [ids.lost, ids.other, ids.third, ids.useless]) {
      await env.sql(
        `insert into media.jobs (id, type, payload, state, attempts, error, finished_at)
         values ($1, 'media.delete-blob', '{"blob_id": 999}', ${dead})`,
        [id],
      );
    }
    await env.sql(
      `insert into media.jobs (id, type, payload, run_at) values ($1, 'media.delete-blob', '{"blob_id": 998}', now() + interval '1 day')`,
      [ids.later],
    );
    const { baseUrl, cliSettings } = await startPlatform(env);
    settings = { ...cliSettings, COHERENCE_URL: baseUrl, COHERENCE_KEY: await createOperatorLogin(env.sql)() };
  });
  afterAll(async () => {
    await env.stop();
  });

  const ask = (...args: string[]): Promise<unknown> => askCli(settings, 'jobs', ...args);
  const cli = (...args: string[]): Promise<CliOutcome> => runCli(args, settings);
  const stateOf = async (id: string): Promise<unknown> =>
    (await env.sql('select state from media.jobs where id = $1', [id]))[0]?.['state'];

  it('jobs list returns the jobs of all services as one array, newest first', async () => {
    const { code, stdout } = await cli('jobs', 'list', '--state', 'dead', '--json');
    const list = JSON.parse(stdout) as { id: string }[];
    expect(code).toBe(0);
    expect(list.map(({ id }) => id)).toEqual([ids.useless, ids.third, ids.other, ids.lost]);
    expect(list[0]).toMatchObject({
      service: 'media',
      type: 'media.delete-blob',
      state: 'dead',
      attempts: 3,
      error: 'The store was away',
    });
    await expect(ask('list', '--state', 'dead', '--limit', '1')).resolves.toHaveLength(1);
    await expect(ask('list', '--state', 'dead', '--limit', '2', '--before', ids.third)).resolves.toMatchObject([
      { id: ids.other },
      { id: ids.lost },
    ]);
    await expect(ask('list', '--service', 'directory')).resolves.toEqual([]);
    await expect(ask('list', '--type', 'media.delete-blob', '--state', 'queued')).resolves.toMatchObject([
      { id: ids.later },
    ]);
  });

  it('jobs show prints a job with its payload', async () => {
    await expect(ask('show', ids.lost)).resolves.toMatchObject({
      id: ids.lost,
      service: 'media',
      payload: { blob_id: 999 },
      result: null,
    });
    const { code, stderr } = await cli('jobs', 'show', '01900000-0000-7000-8000-00000000ffff');
    expect([code, stderr.trim()]).toEqual([1, 'Job 01900000-0000-7000-8000-00000000ffff does not exist.']);
    const { stdout } = await cli('jobs', 'show', ids.lost);
    expect(stdout).toMatch(/^state: +dead$/m);
    expect(stdout).toMatch(/^payload: +\{"blob_id":999\}$/m);
  });

  it('prints a table of jobs with aligned columns, full timestamps and no colour when the output is not a terminal', async () => {
    const { stdout } = await cli('jobs', 'list', '--type', 'media.delete-blob');
    const [header = '', ...rows] = stdout.split('\n');
    expect(header).toMatch(/^ID {36}TYPE {15}STATE {3}ATTEMPTS {2}CREATED +RUNS +ERROR$/);
    const lost = rows.find((row) => row.startsWith(ids.lost)) ?? '';
    expect(lost.indexOf('media.delete-blob')).toBe(header.indexOf('TYPE'));
    expect(lost.indexOf('The store was away')).toBe(header.indexOf('ERROR'));
    expect(lost.slice(header.indexOf('CREATED'))).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}/);
    expect((await cli('jobs', 'list', '--key', 'nothing')).stdout).toBe('No jobs found.\n');
  });

  it('prints only JSON with --json, for jobs and for errors', async () => {
    const failures = [
      [
        ['show', '01900000-0000-7000-8000-00000000ffff'],
        1,
        'not_found',
        'Job 01900000-0000-7000-8000-00000000ffff does not exist.',
      ],
      [
        ['discard', '01900000-0000-7000-8000-00000000ffff'],
        1,
        'not_found',
        expect.stringMatching(/Job .* does not exist/),
      ],
      [['discard', ids.later], 1, 'failed', expect.stringContaining('is queued')],
      [['show', '5'], 2, 'usage', expect.stringContaining('must be a job id')],
      [['redrive'], 2, 'usage', 'Specify a job id, a filter, or --all.'],
    ] as const;
    for (const [args, code, kind, message] of failures) {
      const answer = await cli('jobs', ...args, '--json');
      expect([answer.code, JSON.parse(answer.stdout), answer.stderr]).toEqual([
        code,
        { error: { code: kind, message } },
        '',
      ]);
    }
  });

  it('discards a dead job, and names the possible actions for a job in another state', async () => {
    await expect(ask('discard', ids.useless)).resolves.toEqual({ discarded: 1 });
    await expect(ask('list', '--state', 'cancelled')).resolves.toMatchObject([
      { id: ids.useless, error: 'The store was away' },
    ]);
    await expect(ask('list', '--state', 'dead')).resolves.toHaveLength(3);
    await expect(ask('discard', '--type', 'media.delete-blob', '--error', 'something else')).resolves.toEqual({
      discarded: 0,
    });
    const refused = await cli('jobs', 'discard', ids.later);
    expect([refused.code, refused.stderr.trim()]).toEqual([
      1,
      `Job ${ids.later} is queued: cancel it with \`jobs cancel\`.`,
    ]);
    expect((await cli('jobs', 'discard')).code).toBe(2);
  });

  it('redrives one job, and then all matching jobs, which are then processed', async () => {
    await expect(ask('redrive', ids.lost)).resolves.toEqual({ redriven: 1 });
    await waitFor(async () => (await stateOf(ids.lost)) === 'succeeded');
    await expect(ask('redrive', '--error', 'something else')).resolves.toEqual({ redriven: 0 });
    await expect(cli('jobs', 'redrive', '--error', 'something else')).resolves.toMatchObject({
      code: 0,
      stdout: 'No dead jobs match: nothing changed.\n',
    });
    await expect(ask('redrive', '--type', 'media.delete-blob', '--error', 'store was')).resolves.toEqual({
      redriven: 2,
    });
    for (const id of [ids.other, ids.third]) await waitFor(async () => (await stateOf(id)) === 'succeeded');
    expect((await cli('jobs', 'redrive', ids.lost)).code).toBe(1);
    expect((await cli('jobs', 'redrive')).code).toBe(2);
  });

  it('cancels a waiting job, and rejects a second cancellation', async () => {
    await expect(ask('cancel', ids.later)).resolves.toEqual({ cancelled: 1 });
    await expect(stateOf(ids.later)).resolves.toBe('cancelled');
    const { code, stderr } = await cli('jobs', 'cancel', ids.later);
    expect([code, stderr.trim()]).toEqual([
      1,
      `Job ${ids.later} is cancelled: queue it again with \`jobs redrive\` and its id.`,
    ]);
  });
});
