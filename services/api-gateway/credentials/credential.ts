/** Forms of bearer tokens that act for an account; the shared token, which acts for nobody, is no such form. */
import type { Actor } from '#libs/contract';
import { AppError } from '#libs/errors';
import type { CallContext } from '#libs/nats';

export type UserActor = Extract<Actor, { kind: 'user' }>;

/** One form of token. No two forms share a text. */
export interface Credential {
  /** True for text of the form; only that is worth asking about. */
  matches(token: string): boolean;
  /** Who the token acts for, at once when it is known; `newCall` is for who must ask, which most tokens do not need. @throws AppError unauthenticated, or unavailable when it cannot be checked. */
  verify(token: string, newCall: () => CallContext): UserActor | Promise<UserActor>;
}

/** One answer for every token that is not accepted, whatever is wrong with it. */
export function unauthenticated(): AppError {
  return new AppError({ code: 'unauthenticated', message: 'Authentication is required.' });
}
