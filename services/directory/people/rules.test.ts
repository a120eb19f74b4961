import { describe, expect, it } from '@jest/globals';
import { checkNewPerson, refuseDuplicate } from './rules.ts';

describe('validation of a new person (D43, D44)', () => {
  it('trims and sanitises values of a person, and drops blank contact channels', () => {
    const contact = { email: ' Ada@Example.org ', linkedin: ' ', phone: null, __proto__x: 'y' };
    expect(checkNewPerson({ name: ' Ada ', description: '<p onclick=x>Hi</p>', contact, photo_url: '' })).toEqual({
      name: 'Ada',
      description: '<p>Hi</p>',
      photoUrl: null,
      actorKind: 'human',
      contact: { email: 'Ada@Example.org', __proto__x: 'y' },
    });
  });

  it.each([
    [{ name: '  ' }, 'name'],
    [{ name: 'A', contact: { email: 'no address' } }, 'contact.email'],
    [{ name: 'A', photo_url: 'javascript:steal()' }, 'photo_url'],
  ])('rejects the person %j', (given, field) => {
    expect(() => checkNewPerson(given)).toThrow(
      expect.objectContaining({ code: 'bad_request', message: expect.stringContaining(field) }),
    );
  });

  it('reports a duplicate email first, with the sent value and all existing people', () => {
    const given = { name: 'A', contact: { email: ' A@b.c', linkedin: 'https://linkedin.com/in/a/' } };
    const refuse = (by_email: number[], by_linkedin: number[]) => () =>
      refuseDuplicate({ by_email, by_linkedin }, given);
    expect(refuse([2, 5], [1])).toThrow(
      expect.objectContaining({
        code: 'conflict',
        reason: 'duplicate_person',
        details: { match_field: 'contact.email', match_value: ' A@b.c', existing_person_ids: [2, 5] },
      }),
    );
    expect(refuse([], [1])).toThrow(
      expect.objectContaining({
        details: {
          match_field: 'contact.linkedin',
          match_value: 'https://linkedin.com/in/a/',
          existing_person_ids: [1],
        },
      }),
    );
    expect(refuse([], [])).not.toThrow();
  });
});
