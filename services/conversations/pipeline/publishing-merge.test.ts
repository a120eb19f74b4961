import { describe, expect, it } from '@jest/globals';
import { parseJson } from '#libs/infrastructure/json';
import { wrapValue } from '#libs/product/pipeline-worker';
import { mergePublishing } from './publishing-merge.ts';

const envelope = (value: unknown) => ({ value, provenance: { model: 'm' } });

describe('mergePublishing (rules/steps#pipeline-jobs; D18a)', () => {
  it('writes into empty publishing data and preserves values that the patch does not contain', () => {
    expect(mergePublishing(undefined, { fields: { title: envelope('A') } })).toEqual({
      publishing: { fields: { title: envelope('A') } },
      changed: true,
      retained: [],
    });
    const stored = { fields: { title: 'T', other: 1 }, records: { videohost: { url: 'u' } }, extra: true };
    expect(mergePublishing(stored, { artifacts: { imported_thumbnails: ['/a'] } }).publishing).toEqual({
      ...stored,
      artifacts: { imported_thumbnails: ['/a'] },
    });
  });

  it('replaces values written by a job, and empty values', () => {
    const stored = { fields: { title: envelope('old'), summary: ' ', description: null } };
    const fields = { title: envelope('new'), summary: envelope('s'), description: envelope('d') };
    expect(mergePublishing(stored, { fields })).toEqual({ publishing: { fields }, changed: true, retained: [] });
  });

  it('retains and reports fields and records edited by a person, and replaces artifacts', () => {
    const stored = {
      fields: { title: 'Mine' },
      records: { videohost: { url: 'mine' } },
      artifacts: { imported_thumbnails: ['/old'] },
    };
    const patch = {
      fields: { title: envelope('machine') },
      records: { videohost: envelope({ url: 'machine' }) },
      artifacts: { imported_thumbnails: ['/new'] },
    };
    expect(mergePublishing(stored, patch)).toEqual({
      publishing: { ...stored, artifacts: { imported_thumbnails: ['/new'] } },
      changed: true,
      retained: ['fields.title', 'records.videohost'],
    });
  });

  it('retains a value edited inside its envelope, and a value of another source', () => {
    const written = (value: unknown, source = 'job') => wrapValue(value, { source, at: '2030-01-01T00:00:00Z' });
    const edited = { ...written('machine'), value: 'mine' };
    const stored = { fields: { title: edited, summary: written('import', 'other'), description: written('old') } };
    const fields = { title: written('new'), summary: written('new'), description: written('new') };
    expect(mergePublishing(stored, { fields })).toEqual({
      publishing: { fields: { ...stored.fields, description: written('new') } },
      changed: true,
      retained: ['fields.title', 'fields.summary'],
    });
    const record = { url: 'u', id: 'i' };
    const reordered = { ...written(record), value: { id: 'i', url: 'u' } };
    expect(
      mergePublishing({ records: { videohost: reordered } }, { records: { videohost: written({ url: 'v' }) } })
        .retained,
    ).toEqual([]);
  });

  it('reports no change when the values are already stored', () => {
    const stored = { artifacts: { imported_thumbnails: ['/a'] } };
    expect(mergePublishing(stored, { artifacts: { imported_thumbnails: ['/a'] } }).changed).toBe(false);
  });

  it.each([[null], ['text'], [[1]]])('treats the stored value %j as empty', (stored) => {
    expect(mergePublishing(stored, { fields: { title: 'T' } }).publishing).toEqual({ fields: { title: 'T' } });
    expect(mergePublishing({ fields: stored }, { fields: { title: 'T' } }).publishing).toEqual({
      fields: { title: 'T' },
    });
  });

  it('adds values to a group that is inside an envelope', () => {
    const stored = { fields: envelope({ title: envelope('a') }) };
    expect(mergePublishing(stored, { fields: { summary: 's' } }).publishing).toEqual({
      fields: { title: envelope('a'), summary: 's' },
    });
  });

  it('preserves keys such as __proto__ and every digit of large numbers', () => {
    const stored = parseJson('{"fields": {"__proto__": 1, "n": 12345678901234567890}}');
    expect(JSON.stringify(mergePublishing(stored, { fields: { title: 'T' } }).publishing)).toBe(
      '{"fields":{"__proto__":1,"n":12345678901234567890,"title":"T"}}',
    );
  });
});
