import { describe, expect, it } from '@jest/globals';
import { parseJson, type JsonObject } from '#libs/infrastructure/json';
import { jobOf, pipelineJobs, transcriptImport, validateStepConfig } from './index.ts';

describe('pipelineJobs (rules/steps#pipeline-jobs)', () => {
  it('contains transcript_import', () => {
    expect(pipelineJobs.get('transcript_import')).toBe(transcriptImport);
    expect(pipelineJobs.has('toString')).toBe(false);
  });

  it.each([...pipelineJobs.values()].map((job) => [job.name, job] as const))(
    'declares in %s an access level for every setting and for nothing else',
    (name, job) => {
      expect(job.name).toBe(name);
      expect(job.jobType).toMatch(/^[a-z-]+\.[a-z-]+$/);
      expect(Object.keys(job.fields).toSorted()).toEqual(Object.keys(job.config.properties).toSorted());
      expect(validateStepConfig(job, {}).problems).toEqual({});
    },
  );

  it.each([...pipelineJobs.values()].map((job) => [job.name, job] as const))(
    'waits in %s seven days for late input: first within 30 s, then every 15 minutes (D7a)',
    (_name, job) => {
      const { policy } = jobOf(job);
      expect(policy).toMatchObject({ maxDelayMs: 15 * 60_000, expiresAfterMs: 7 * 24 * 3_600_000 });
      expect(policy.firstDelayMs).toBeLessThanOrEqual(30_000);
    },
  );
});

describe('validateStepConfig', () => {
  it('adds defaults and preserves stored values', () => {
    expect(validateStepConfig(transcriptImport, {})).toEqual({ config: { advance_on_success: false }, problems: {} });
    expect(validateStepConfig(transcriptImport, { advance_on_success: true })).toEqual({
      config: { advance_on_success: true },
      problems: {},
    });
  });

  it('reports the dotted path of every invalid setting', () => {
    expect(validateStepConfig(transcriptImport, { advance_on_success: 'yes', surprise: 1 }).problems).toEqual({
      advance_on_success: 'must be boolean',
      surprise: 'is not a setting of this job',
    });
  });

  it('treats __proto__ and constructor as undeclared keys', () => {
    const stored = parseJson('{"__proto__": {"advance_on_success": true}, "constructor": 1}') as JsonObject;
    const { config, problems } = validateStepConfig(transcriptImport, stored);
    expect(Object.keys(problems).toSorted()).toEqual(['__proto__', 'constructor']);
    expect(config['advance_on_success']).toBe(false);
  });
});
