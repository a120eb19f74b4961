/** Exports of `accounts` for other features: tokens, login limits and passwords. */
export { changeTokens } from './change-tokens.ts';
export { type LoginThrottle, type RefusedLogins, emailThrottleKey } from './login-limits.ts';
export { type Passwords, createToken, findPasswordProblem, tokenLifetimeSeconds } from './rules.ts';
export { forgetAttempts } from './statements/sessions.ts';
export { requireSuperuser, retainSuperuser } from './superusers.ts';
