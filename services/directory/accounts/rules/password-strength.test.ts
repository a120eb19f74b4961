import { describe, expect, it } from '@jest/globals';
import { demoValues } from '#libs/config';
import { findPasswordProblem } from './password-strength.ts';

const email = 'ada.lovelace@example.org';

describe('findPasswordProblem (rules/access#passwords)', () => {
  it('counts characters: 12 are enough, 11 are not, 128 are, 129 are not', async () => {
    await expect(findPasswordProblem('kR7#vQ2pX9s', email)).resolves.toBe('must have 12 characters or more, and has 11');
    await expect(findPasswordProblem('kR7#vQ2pX9sL', email)).resolves.toBeUndefined();
    const long = Array.from({ length: 16 }, (_, n) => `kR7#v2p${String.fromCodePoint(0x1f600 + n)}`).join('');
    await expect(findPasswordProblem(long, email)).resolves.toBeUndefined();
    await expect(findPasswordProblem(`${long}x`, email)).resolves.toBe('must have 128 characters or fewer, and has 129');
  });

  it.each([
    'password1234',
    'Password2024',
    'P@ssw0rd1234',
    'qwertyuiop12',
    '123456789012',
    'aaaaaaaaaaaa',
    'abcabcabcabc',
    'passwordpassword',
    'administrator',
    'x'.repeat(128),
    'ada.lovelace@example.org',
    'lovelace1234',
  ])('refuses what is easy to guess: %s', async (password) => {
    await expect(findPasswordProblem(password, email)).resolves.toMatch(/^is too easy to guess/);
  });

  it.each([
    'correct horse battery',
    'secret-of-ada-auth',
    'Jahrhundertwende 7 Birnen',
    '我喜歡吃蘋果和香蕉還有梨子',
    demoValues.DEMO_PASSWORD,
  ])('takes %s', async (password) => expect(await findPasswordProblem(password, email)).toBeUndefined());
});
