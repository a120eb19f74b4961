/** What other features need of accounts: passwords, and the sessions and failed logins that a change of an account ends. */
export { emailThrottleKey } from './login-throttle.ts';
export { findPasswordProblem } from './rules/password-strength.ts';
export type { Passwords } from './rules/password.ts';
export { findAccountSessions, forgetAttempts, revokeAccountSessions } from './statements/sessions.ts';
