/** Step configuration with a real database; the general field policy is tested with a job registered only here. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Type } from '#libs/infrastructure/contract';
import type { Actor } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { parseJson, type JsonObject } from '#libs/infrastructure/json';
import type { RequestContext } from '#libs/infrastructure/nats';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { pipelineJobs, type PipelineJob } from '#libs/product/pipeline';
import { directory } from '#services/directory';
import { createDirectoryHistory } from '../../../services/directory/history/index.ts';
import { createStepHandlers } from '../../../services/directory/journeys/handlers.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

const { listSteps, readStepConfig, patchStepConfig, listConfigAudit, getStepConfig } = directory.rpcs;

const videohost: PipelineJob = {
  name: 'test_videohost',
  summary: 'Publishes a recording.',
  jobType: 'media.test-videohost',
  config: Type.Object(
    {
      channel: Type.String({ default: 'main', minLength: 1 }),
      quota: Type.Integer({ default: 3 }),
      videohost_refresh_token: Type.Optional(Type.String()),
      forgotten: Type.Boolean({ default: true }),
      upload: Type.Optional(
        Type.Object(
          { title: Type.String({ default: 'Untitled' }), size: Type.Optional(Type.Integer()) },
          { additionalProperties: false },
        ),
      ),
      labels: Type.Optional(Type.Object({}, { additionalProperties: true })),
    },
    { additionalProperties: false },
  ),
  fields: {
    channel: 'read_write',
    quota: 'read',
    videohost_refresh_token: 'hidden',
    upload: 'read_write',
    labels: 'read_write',
  },
};

let fixture: DirectoryFixture;
let db: Database;
let handlers: ReturnType<typeof createStepHandlers>;
let ada: Actor;
let adaId = 0;

beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  const applied = await fixture.apply({ accounts: [{ email: 'ada@example.org' }] });
  adaId = applied.ids['accounts']?.['ada@example.org'] ?? 0;
  ada = {
    kind: 'user',
    accountId: adaId,
    personId: null,
    superuser: false,
    globalEditor: false,
    coherenceAccess: true,
  };
  const { env } = fixture;
  const url = env.settings['DATABASE_URL'] ?? '';
  db = await createDatabase({ url, schema: 'directory', poolSize: 8, logger: env.logger, applicationName: 'test' });
  handlers = createStepHandlers({
    db,
    history: createDirectoryHistory(),
    pipeline: new Map([...pipelineJobs, [videohost.name, videohost]]),
  });
});
afterAll(async () => {
  await db.close();
  await fixture.stop();
});

let journey = '';
let count = 0;
let stepId = 0;
/**
 * Creates a journey with four steps: with a registered job, with the job of this test, with an unknown job, and without
 * a job.
 */
async function createJourney(config: unknown): Promise<void> {
  journey = `journey-${++count}`;
  const { ids } = await fixture.apply({
    journeys: [
      {
        slug: journey,
        name: journey,
        steps: [
          { slug: 'video', title: 'Video', pipeline_job: videohost.name, config },
          { slug: 'import', pipeline_job: 'transcript_import' },
          {
            slug: 'later',
            pipeline_job: 'nobody_knows',
            is_archived: true,
            goal: 'g',
            success_criteria: 's',
            starter_message: 'm',
          },
          { slug: 'free', config },
        ],
      },
    ],
  });
  stepId = ids['steps']?.[`${journey}/video`] ?? 0;
}

const { subject, audit: action } = directory.rpcs.patchStepConfig;
const context = (actor: Actor | undefined = ada): RequestContext =>
  ({ actor, subject, audit: action, requestId: 'r' }) as RequestContext;
type View = { config: JsonObject; updated_at: string };
const read = async (step = 'video'): Promise<View> =>
  (await handlers.readStepConfig({ journey_slug: journey, step_slug: step }, context())) as unknown as View;
const patch = async (config: unknown, rest: object = {}, step = 'video'): Promise<View> =>
  (await handlers.patchStepConfig(
    { journey_slug: journey, step_slug: step, write: { config: config as JsonObject, ...rest } },
    context(),
  )) as unknown as View;
async function refusal(work: Promise<unknown>): Promise<AppError> {
  const error: unknown = await work.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof AppError) return error;
  throw error;
}
async function stored(slug = 'video'): Promise<{ config: string; updated_at: string }> {
  const [row] = await fixture.env.sql<{ config: string; updated_at: string }>(
    'select s.config::text as config, s.updated_at::text as updated_at from directory.journey_steps s join directory.journeys j on j.id = s.journey_id where j.slug = $1 and s.slug = $2',
    [journey, slug],
  );
  if (row === undefined) throw new Error('no such step');
  return row;
}
const audit = async (step = 'video') =>
  (await fixture.call(listConfigAudit, { journey_slug: journey, step_slug: step })).items;

const initial = {
  videohost_refresh_token: 'secret',
  quota: 5,
  forgotten: false,
  gone: { a: 1 },
  upload: { title: 't', old: 1 },
};
beforeEach(() => createJourney(initial));

describe('directory.steps.list (rules/steps#step-configuration)', () => {
  it('lists all steps of a journey in order, including archived ones, without their configuration', async () => {
    const steps = await fixture.call(listSteps, { journey_slug: journey });
    expect(steps.map((step) => [step.slug, step.order, step.is_archived, step.pipeline_job])).toEqual([
      ['video', 0, false, 'test_videohost'],
      ['import', 1, false, 'transcript_import'],
      ['later', 2, true, 'nobody_knows'],
      ['free', 3, false, null],
    ]);
    expect(steps[2]).toEqual({
      id: expect.any(Number),
      slug: 'later',
      order: 2,
      title: 'later',
      goal: 'g',
      success_criteria: 's',
      starter_message: 'm',
      is_archived: true,
      pipeline_job: 'nobody_knows',
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/),
    });
    expect(await fixture.refusal(listSteps, { journey_slug: 'unknown' })).toMatchObject({ code: 'not_found' });
  });

  it('returns an empty list for a journey without steps', async () => {
    await fixture.apply({ journeys: [{ slug: 'bare', name: 'Bare', steps: [] }] });
    await expect(fixture.call(listSteps, { journey_slug: 'bare' })).resolves.toEqual([]);
  });
});

describe('directory.steps.read-config (rules/steps#field-policy; D16b)', () => {
  it('returns the job of a step and its readable fields with defaults, without hidden, undeclared or stateless fields', async () => {
    expect((await read()).config).toEqual({
      pipeline_job: 'test_videohost',
      channel: 'main',
      quota: 5,
      upload: { title: 't' },
    });
  });

  it('returns the whole configuration of a step without a registered job', async () => {
    expect((await read('free')).config).toEqual(initial);
    expect((await read('later')).config).toEqual({});
    const { config } = await fixture.call(readStepConfig, { journey_slug: journey, step_slug: 'import' });
    expect(config).toEqual({ pipeline_job: 'transcript_import', advance_on_success: false });
  });

  it('returns 404 for an unknown journey, an unknown step and a step of another journey', async () => {
    const before = journey;
    await createJourney({});
    await fixture.apply({ journeys: [{ slug: journey, steps: [{ slug: 'own' }] }] });
    for (const request of [
      { journey_slug: 'unknown', step_slug: 'video' },
      { journey_slug: journey, step_slug: 'unknown' },
      { journey_slug: before, step_slug: 'own' },
    ]) {
      expect(await fixture.refusal(readStepConfig, request)).toMatchObject({ code: 'not_found', reason: undefined });
      expect(await fixture.refusal(patchStepConfig, { ...request, write: { config: {} } })).toMatchObject({
        code: 'not_found',
      });
      expect(await fixture.refusal(listConfigAudit, request)).toMatchObject({ code: 'not_found' });
    }
  });
});

describe('directory.steps.patch-config (rules/steps#step-configuration; D16b)', () => {
  it('merges a patch recursively, keeps hidden fields, and removes undeclared keys by null', async () => {
    const reply = await patch({
      channel: 'b',
      gone: null,
      upload: { size: 1, old: null },
      labels: { a: [null], b: { c: null, d: 1 } },
    });
    expect(reply.config).toEqual({
      pipeline_job: 'test_videohost',
      channel: 'b',
      quota: 5,
      upload: { title: 't', size: 1 },
      labels: { a: [null], b: { d: 1 } },
    });
    expect(JSON.parse((await stored()).config)).toEqual({
      videohost_refresh_token: 'secret',
      quota: 5,
      forgotten: false,
      channel: 'b',
      upload: { title: 't', size: 1 },
      labels: { a: [null], b: { d: 1 } },
    });
    expect(await read()).toEqual(reply);
  });

  it('returns the default of a key that was removed by null, without storing it', async () => {
    await patch({ gone: null, upload: { old: null }, channel: 'b' });
    expect((await patch({ channel: null })).config['channel']).toBe('main');
    expect(JSON.parse((await stored()).config)).not.toHaveProperty('channel');
  });

  it('rejects a patch while any stored key, at any depth, is no longer declared', async () => {
    const before = await stored();
    const error = await refusal(patch({ channel: 'b' }));
    expect(error).toMatchObject({ code: 'bad_request', reason: 'invalid_step_config', message: expect.any(String) });
    expect(Object.keys(error.details['fields'] as object).toSorted()).toEqual(['gone', 'upload.old']);
    expect(await stored()).toEqual(before);
    expect(await audit()).toEqual([]);
  });

  it('checks expected_updated_at first, then whether the keys are writable, then the values', async () => {
    const bad = {
      channel: 1,
      quota: 9,
      videohost_refresh_token: null,
      forgotten: null,
      pipeline_job: 'x',
      nope: null,
      upload: { nope: 1 },
    };
    const error = await refusal(patch(bad));
    expect(error).toMatchObject({
      code: 'bad_request',
      reason: 'config_keys_not_writable',
      message: expect.any(String),
    });
    expect(Object.keys(error.details['fields'] as object).toSorted()).toEqual(
      ['forgotten', 'nope', 'pipeline_job', 'quota', 'upload.nope', 'videohost_refresh_token'].toSorted(),
    );
    const stale = await refusal(patch(bad, { expected_updated_at: '2020-01-01T00:00:00Z' }));
    expect(stale).toMatchObject({ code: 'conflict', reason: 'stale_config', message: expect.any(String) });
    expect(stale.details).toEqual({ updated_at: (await read()).updated_at });
    expect(JSON.stringify([error.toBody(), stale.toBody()])).not.toContain('secret');
    expect(await audit()).toEqual([]);
  });

  it('compares expected_updated_at with microsecond precision', async () => {
    await fixture.env.sql(
      `update directory.journey_steps set updated_at = '2026-05-01T10:00:00.000001Z', config = '{}' where id = $1`,
      [stepId],
    );
    expect((await read()).updated_at).toBe('2026-05-01T10:00:00.000001Z');
    for (const expected of ['2026-05-01T10:00:00Z', '2026-05-01T10:00:00.000002Z'])
      expect(await refusal(patch({ channel: 'b' }, { expected_updated_at: expected }))).toMatchObject({
        reason: 'stale_config',
      });
    const reply = await patch({ channel: 'b' }, { expected_updated_at: '2026-05-01T12:00:00.000001+02:00' });
    expect(reply.updated_at > '2026-05-01T10:00:00.000001Z').toBe(true);
    expect(await refusal(patch({}, { expected_updated_at: '2026-05-01T10:00:00.000001Z' }))).toMatchObject({
      reason: 'stale_config',
    });
    await expect(patch({}, { expected_updated_at: reply.updated_at })).resolves.toEqual(reply);
    await expect(patch({}, { expected_updated_at: null })).resolves.toEqual(reply);
  });

  it('increases updated_at only when the configuration changes, even if the clock is behind it', async () => {
    await fixture.env.sql(
      `update directory.journey_steps set config = '{"channel": "a"}', updated_at = '9000-01-01T00:00:00Z' where id = $1`,
      [stepId],
    );
    expect((await patch({ channel: 'a' })).updated_at).toBe('9000-01-01T00:00:00Z');
    expect((await patch({ upload: null })).updated_at).toBe('9000-01-01T00:00:00Z');
    expect((await patch({ channel: 'b' })).updated_at).toBe('9000-01-01T00:00:00.000001Z');
    await fixture.apply({ journeys: [{ slug: journey, steps: [{ slug: 'video', title: 'Other title', goal: 'g' }] }] });
    expect((await read()).updated_at).toBe('9000-01-01T00:00:00.000001Z');
  });

  it('records every successful configuration patch with account and dotted paths, newest first', async () => {
    await patch({ gone: null, upload: { old: null } });
    await patch({ channel: 'b', labels: { a: { b: 1 }, c: [] } });
    await patch({ channel: 'b' });
    await refusal(patch({ channel: '' }));
    const account = { id: adaId, email: 'ada@example.org' };
    const instant = expect.stringMatching(/Z$/);
    expect(await audit()).toEqual([
      { id: expect.any(Number), changed_at: instant, source: 'api', account, paths: ['channel'] },
      {
        id: expect.any(Number),
        changed_at: instant,
        source: 'api',
        account,
        paths: ['channel', 'labels.a.b', 'labels.c'],
      },
      { id: expect.any(Number), changed_at: instant, source: 'api', account, paths: ['gone', 'upload.old'] },
    ]);
    await fixture.apply({ journeys: [{ slug: journey, steps: [{ slug: 'video', config: { channel: 'c' } }] }] });
    expect((await audit())[0]).toMatchObject({ source: 'workspace', account: null, paths: ['channel'] });
  });

  it('accepts every key except pipeline_job for a step without a registered job, and preserves all digits of numbers', async () => {
    const config = parseJson(
      '{"n": 12345678901234567890, "deep": {"f": 0.10, "__proto__": {"x": 1}, "constructor": 2}, "gone": null}',
    );
    const reply = await patch(config, {}, 'free');
    const text = JSON.stringify(reply.config);
    for (const part of ['"n":12345678901234567890', '"f":0.10', '"__proto__":{"x":1}', '"constructor":2'])
      expect(text).toContain(part);
    expect(reply.config).not.toHaveProperty('gone');
    expect(JSON.stringify((await patch({ other: 1 }, {}, 'free')).config)).toContain('12345678901234567890');
    for (const step of ['free', 'later']) {
      const error = await refusal(patch({ pipeline_job: null }, {}, step));
      expect(error).toMatchObject({
        reason: 'config_keys_not_writable',
        details: { fields: { pipeline_job: expect.any(String) } },
      });
    }
  });

  it('preserves all digits of a number that the model validates', async () => {
    await patch({ gone: null, upload: { old: null } });
    const reply = await patch(parseJson('{"upload": {"size": 9007199254740993}}'));
    expect(JSON.stringify(reply.config)).toContain('"size":9007199254740993');
    expect((await stored()).config).toContain('9007199254740993');
  });

  it('preserves all concurrent configuration patches of different keys', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `key${index}`);
    await Promise.all(names.map((name, index) => patch({ deep: { [name]: index } }, {}, 'free')));
    expect(JSON.parse((await stored('free')).config)).toMatchObject({
      deep: Object.fromEntries(names.map((name, index) => [name, index])),
    });
    expect(await audit('free')).toHaveLength(40);
  });

  it('preserves configuration patches during the application of a workspace file', async () => {
    const rounds = Array.from({ length: 8 }, (_, index) => index);
    const write = async (index: number): Promise<void> => {
      await patch({ [`patched${index}`]: index }, {}, 'free');
    };
    const apply = async (index: number): Promise<void> => {
      await fixture.apply({
        journeys: [{ slug: journey, steps: [{ slug: 'free', config: { [`applied${index}`]: index } }] }],
      });
    };
    await Promise.all(rounds.flatMap((index) => [write(index), apply(index)]));
    const { config } = await stored('free');
    expect(Object.keys(JSON.parse(config) as object).toSorted()).toEqual(
      [...Object.keys(initial), ...rounds.flatMap((index) => [`patched${index}`, `applied${index}`])].toSorted(),
    );
  });

  it('accepts exactly one of many concurrent configuration patches with the same expected_updated_at', async () => {
    const { updated_at: expected } = await read('free');
    const writes = Array.from({ length: 10 }, (_, index) =>
      patch({ winner: index }, { expected_updated_at: expected }, 'free'),
    );
    const results = await Promise.allSettled(writes);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await audit('free')).toHaveLength(1);
  });

  it('returns to the worker the same step configuration as to the API, without undeclared keys', async () => {
    await fixture.env.sql(
      `update directory.journey_steps set pipeline_job = 'transcript_import', config = $2 where id = $1`,
      [stepId, '{"gone": 1, "pipeline_job": "odd"}'],
    );
    expect((await read()).config).toEqual({ pipeline_job: 'transcript_import', advance_on_success: false });
    await patch({ advance_on_success: true, gone: null });
    await expect(fixture.call(getStepConfig, { step_id: stepId })).resolves.toEqual({
      pipeline_job: 'transcript_import',
      config: { advance_on_success: true },
    });
  });
});
