import { describe, expect, it } from '@jest/globals';
import { Type } from '#libs/infrastructure/contract';
import { parseJson, type JsonObject } from '#libs/infrastructure/json';
import { dropUndeclared, findUnwritable, showStepConfig, validateStepConfig, type PipelineJob } from './index.ts';

const upload = Type.Object(
  {
    title: Type.String({ default: 'Untitled' }),
    limits: Type.Object({ size: Type.Integer() }, { additionalProperties: false }),
  },
  { additionalProperties: false },
);

/** A job with a field of every access level and one field that is not declared. */
const videohost: PipelineJob = {
  name: 'videohost_publish',
  summary: 'Publishes a recording.',
  jobType: 'media.videohost-publish',
  config: Type.Object(
    {
      channel: Type.String({ default: 'main' }),
      quota: Type.Integer({ default: 3 }),
      videohost_refresh_token: Type.Optional(Type.String()),
      forgotten: Type.Boolean({ default: true }),
      upload: Type.Optional(upload),
      labels: Type.Optional(Type.Object({}, { additionalProperties: true })),
      tags: Type.Optional(Type.Array(Type.Unknown())),
    },
    { additionalProperties: false },
  ),
  fields: {
    channel: 'read_write',
    quota: 'read',
    videohost_refresh_token: 'hidden',
    upload: 'read_write',
    labels: 'read_write',
    tags: 'read_write',
  },
};
const json = (text: string): JsonObject => parseJson(text) as JsonObject;
const refused = (stored: JsonObject, patch: JsonObject): string[] =>
  Object.keys(findUnwritable(videohost, stored, patch)).toSorted();

describe('showStepConfig (rules/steps#field-policy; D16b)', () => {
  it('returns the job and all fields with read or read_write access, but no hidden or undeclared fields', () => {
    const stored = {
      quota: 5,
      videohost_refresh_token: 'secret',
      forgotten: false,
      channel: 'a',
      gone: 1,
      pipeline_job: 'other',
    };
    expect(showStepConfig(videohost, stored)).toEqual({ pipeline_job: 'videohost_publish', channel: 'a', quota: 5 });
  });

  it('omits undeclared keys of nested objects, and preserves open objects and lists', () => {
    const stored = {
      upload: { title: 't', gone: 1, limits: { size: 1, gone: 2 } },
      labels: { any: { thing: 1 } },
      tags: [{ gone: 1 }],
    };
    expect(showStepConfig(videohost, stored)).toEqual({
      pipeline_job: 'videohost_publish',
      upload: { title: 't', limits: { size: 1 } },
      labels: { any: { thing: 1 } },
      tags: [{ gone: 1 }],
    });
  });

  it('returns fields in the order of the job schema', () => {
    const left = showStepConfig(videohost, { quota: 1, channel: 'a' });
    expect(JSON.stringify(left)).toBe(JSON.stringify(showStepConfig(videohost, { channel: 'a', quota: 1 })));
  });

  it('returns the whole configuration except pipeline_job for a step without a registered job', () => {
    expect(showStepConfig(undefined, { any: { thing: null }, pipeline_job: 'x' })).toEqual({ any: { thing: null } });
  });
});

describe('findUnwritable (rules/steps#field-policy; D16b)', () => {
  it('reports at most fifty fields, with truncated names (D60)', () => {
    const many = Object.fromEntries(Array.from({ length: 1_525 }, (_value, index) => [`k${index}`, 1]));
    for (const patch of [many, { upload: many }, { upload: { limits: many } }])
      expect(refused({}, patch)).toHaveLength(50);
    expect(refused({}, { ['k'.repeat(200)]: 1 })).toEqual(['k'.repeat(120)]);
    expect(Object.keys(validateStepConfig(videohost, { upload: many }).problems)).toHaveLength(50);
  });

  it.each([
    [
      'a read_write field',
      {},
      { channel: 'b', upload: { title: 't', limits: { size: 2 } }, labels: { x: { y: null } }, tags: [null] },
      [],
    ],
    ['null for a read_write field', { channel: 'b' }, { channel: null, upload: null }, []],
    ['a read field', {}, { quota: 4 }, ['quota']],
    ['null for a read field', { quota: 4 }, { quota: null }, ['quota']],
    ['a hidden field', {}, { videohost_refresh_token: 'x' }, ['videohost_refresh_token']],
    [
      'null for a hidden field',
      { videohost_refresh_token: 'x' },
      { videohost_refresh_token: null },
      ['videohost_refresh_token'],
    ],
    ['a field without a state', {}, { forgotten: false }, ['forgotten']],
    ['null for a declared field without a state', { forgotten: false }, { forgotten: null }, ['forgotten']],
    ['the job', {}, { pipeline_job: 'x' }, ['pipeline_job']],
    ['an undeclared key', {}, { unknown: 1 }, ['unknown']],
    ['a new value for an undeclared stored key', { gone: 1 }, { gone: 2 }, ['gone']],
    ['null for an undeclared stored key', { gone: 1 }, { gone: null }, []],
    ['null for an undeclared key that is not stored', {}, { gone: null }, ['gone']],
    [
      'undeclared keys of nested objects',
      {},
      { upload: { nope: 1, limits: { nope: 2, size: 1 } } },
      ['upload.limits.nope', 'upload.nope'],
    ],
    [
      'null for a nested leftover',
      { upload: { gone: { a: 1 } } },
      { upload: { gone: null, never: null } },
      ['upload.never'],
    ],
  ])('checks the access to %s', (_what, stored, patch, expected) => {
    expect(refused(stored as JsonObject, patch as JsonObject)).toEqual(expected);
  });

  it('treats __proto__ and constructor as undeclared keys', () => {
    const patch = json(
      '{"__proto__": {"channel": "x"}, "constructor": null, "toString": 1, "upload": {"__proto__": 1}}',
    );
    expect(refused({}, patch)).toEqual(['__proto__', 'constructor', 'toString', 'upload.__proto__']);
    expect(refused(json('{"__proto__": 1}'), json('{"__proto__": null}'))).toEqual([]);
  });

  it('reports hidden and unknown keys as the same problem', () => {
    const { videohost_refresh_token: hidden, unknown } = findUnwritable(
      videohost,
      {},
      { videohost_refresh_token: 1, unknown: 1 },
    );
    expect(hidden).toBe(unknown);
  });

  it('rejects only pipeline_job in a step without a registered job', () => {
    expect(findUnwritable(undefined, {}, { any: 1, pipeline_job: null })).toEqual({ pipeline_job: expect.any(String) });
  });
});

describe('dropUndeclared', () => {
  it('preserves declared keys at every depth', () => {
    const stored = { channel: 'a', gone: 1, upload: { title: 't', gone: 1, limits: { gone: 1 } } };
    expect(dropUndeclared(videohost.config, stored)).toEqual({ channel: 'a', upload: { title: 't', limits: {} } });
  });
});

describe('validateStepConfig with nested objects', () => {
  it('reports the dotted path of an invalid value at every depth', () => {
    const { problems } = validateStepConfig(videohost, {
      channel: 1,
      upload: { title: 't', limits: { size: 'x', gone: 1 } },
    });
    expect(problems).toEqual({
      channel: 'must be string',
      'upload.limits.size': 'must be integer',
      'upload.limits.gone': 'is not a setting of this job',
    });
  });

  it('preserves every digit of large numbers during validation', () => {
    const stored = json('{"quota": 9007199254740993, "labels": {"n": 12345678901234567890}}');
    const { config, problems } = validateStepConfig(videohost, stored);
    expect(problems).toEqual({});
    expect(JSON.stringify(config)).toContain('"quota":9007199254740993');
    expect(JSON.stringify(config)).toContain('12345678901234567890');
  });
});
