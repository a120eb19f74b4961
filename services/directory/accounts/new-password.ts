import { appError } from '#libs/errors';
import { findPasswordProblem } from './rules/password-strength.ts';
import type { Passwords } from './rules/password.ts';

/** The hash of a password that is set (rules/access#passwords). @throws AppError `weak_password`, `public_password`, unavailable */
export async function hashNewPassword(passwords: Passwords, password: string, email: string): Promise<string> {
  const problem = await findPasswordProblem(password, email.trim());
  if (problem !== undefined) throw appError('bad_request', 'weak_password', `The password ${problem}.`);
  return passwords.hash(password);
}
