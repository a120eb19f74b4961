/** What other features need of accounts: passwords, the limits of logins, and the tokens and failed logins that a change of an account ends. */
export { changeTokens } from './change-tokens.ts';
export { createToken, tokenLifetimeSeconds } from './rules/token.ts';
export { emailThrottleKey, type LoginThrottle } from './login-throttle.ts';
export { findPasswordProblem } from './rules/password-strength.ts';
export type { RefusedLogins } from './refused-logins.ts';
export type { Passwords } from './rules/password.ts';
export { forgetAttempts } from './statements/sessions.ts';
