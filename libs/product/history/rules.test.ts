import { describe, expect, it } from '@jest/globals';
import { diffSnapshots, hideSecrets } from './index.ts';

describe('diffSnapshots (W10)', () => {
  it('returns the changed fields with old and new values', () => {
    expect(
      diffSnapshots({ name: 'Ada', contact: { email: 'a@x' } }, { name: 'Ada', contact: { email: 'b@x' } }),
    ).toEqual({
      contact: { old: { email: 'a@x' }, new: { email: 'b@x' } },
    });
  });

  it('returns undefined when no field changed, absent and null fields being equal', () => {
    expect(diffSnapshots({ name: 'Ada', photo_url: null }, { name: 'Ada' })).toBeUndefined();
    expect(diffSnapshots(undefined, undefined)).toBeUndefined();
  });

  it('returns null as the old value of a created and the new value of a deleted object', () => {
    expect(diffSnapshots(undefined, { name: 'Ada', note: null })).toEqual({ name: { old: null, new: 'Ada' } });
    expect(diffSnapshots({ name: 'Ada' }, undefined)).toEqual({ name: { old: 'Ada', new: null } });
  });
});

describe('hideSecrets (W10)', () => {
  const before = hideSecrets({ bot_token: 'one', settings: { api_key: 'a', model: 'm' } }) as Record<string, unknown>;

  it('leaves no value of a secret in a snapshot', () => {
    expect(JSON.stringify(before)).not.toMatch(/"one"|"a"/);
  });

  it('makes a changed secret visible without its values', () => {
    const after = hideSecrets({ bot_token: 'two', settings: { api_key: 'b', model: 'm' } }) as Record<string, unknown>;
    expect(diffSnapshots(before, after)).toEqual({
      bot_token: { changed: true },
      settings: {
        old: { api_key: { changed: true }, model: 'm' },
        new: { api_key: { changed: true }, model: 'm' },
      },
    });
  });

  it('marks only the secrets that differ, in lists too', () => {
    const secrets = (first: string, second: string) => ({ bots: [{ token: first }, { token: second, name: 'b' }] });
    const [old, now] = [secrets('a', 'b'), secrets('a', 'c')].map((value) => hideSecrets({ config: value }) as object);
    const [set, changed] = [{ set: true }, { changed: true }];
    const marked = (mark: object) => ({ bots: [{ token: set }, { token: mark, name: 'b' }] });
    expect(diffSnapshots({ ...old }, { ...now })).toEqual({ config: { old: marked(changed), new: marked(changed) } });
    expect(diffSnapshots(undefined, { ...old })).toEqual({
      config: { old: null, new: { bots: [{ token: changed }, { token: changed, name: 'b' }] } },
    });
  });

  it('finds no change when a secret is stored again with the same value', () => {
    const again = hideSecrets({ bot_token: 'one', settings: { api_key: 'a', model: 'm' } }) as Record<string, unknown>;
    expect(diffSnapshots(before, again)).toBeUndefined();
  });
});
