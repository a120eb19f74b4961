/** Shape of per-user tokens: `svc_agentic_<session_key>_<secret>` (rules/access#login). */
import { createSecret, randomId, sha256 } from '../../secret.ts';

/** Seconds that a token lives. */
export const tokenLifetimeSeconds = 86_400;

const shape = /^svc_agentic_([a-z0-9]{32})_([A-Za-z0-9_-]{43})$/;
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

export interface TokenParts {
  /** 32 lowercase letters and digits; names the session, is no secret. */
  readonly sessionKey: string;
  /** SHA-256 of the secret; all that is stored of it. */
  readonly secretSha256: Buffer;
}

/** True for text of the shape that the key of a session has. */
export function isSessionKey(text: string): boolean {
  return /^[a-z0-9]{32}$/.test(text);
}

/** Makes a token; it exists nowhere but in the reply of the login. */
export function createToken(): TokenParts & { readonly token: string } {
  const sessionKey = randomId(32, alphabet);
  const secret = createSecret();
  return { token: `svc_agentic_${sessionKey}_${secret}`, sessionKey, secretSha256: sha256(secret) };
}

/** The parts of a token; undefined when the text has another shape. */
export function parseToken(token: string): TokenParts | undefined {
  const [, sessionKey, secret] = shape.exec(token) ?? [];
  return sessionKey === undefined || secret === undefined ? undefined : { sessionKey, secretSha256: sha256(secret) };
}
