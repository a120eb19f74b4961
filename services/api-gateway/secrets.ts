import { timingSafeEqual } from 'node:crypto';
import { isExposed, isPublicSecret } from '#libs/infrastructure/config';
import type { RequestOf } from '#libs/infrastructure/contract';
import type { directory } from '#services/directory';
import { type GatewayConfig, gatewaySettings } from './config.ts';

type Login = RequestOf<typeof directory.rpcs.login>;
export type LoginFilter = (login: Login) => Login;

/**
 * Returns a function that replaces a published password by an empty one when the gateway is reachable from other hosts.
 * No account has an empty password, so the login is handled, counted and recorded as a wrong password
 * (rules/access#passwords).
 */
export function createLoginFilter(config: Pick<GatewayConfig, 'HOST' | 'NODE_ENV'>): LoginFilter {
  if (!isExposed(gatewaySettings.properties, config, config.NODE_ENV)) return (login) => login;
  return (login) => (isPublicSecret(login.password) ? { ...login, password: '' } : login);
}

/**
 * Returns a function that checks in constant time whether a text is one of the secrets. Texts are padded to blocks of
 * equal size that end with the text length, and always compared with all secrets (K8).
 * @param counted called with the index of the matching secret
 */
export function createSecretCheck(
  secrets: readonly string[],
  counted: (index: number) => void = () => {},
): (given: string) => boolean {
  const size = Math.max(256, ...secrets.map((secret) => Buffer.byteLength(secret)));
  const lay = (block: Buffer, text: string): Buffer => {
    block.fill(0);
    block.write(text, 'utf8');
    block.writeUInt32LE(text.length, size);
    return block;
  };
  const expected = secrets.map((secret) => lay(Buffer.alloc(size + 4), secret));
  const block = Buffer.alloc(size + 4);
  return (given) => {
    lay(block, given);
    let found = -1;
    for (let index = 0; index < expected.length; index++) {
      const secret = expected[index];
      if (secret !== undefined && timingSafeEqual(block, secret)) found = index;
    }
    if (found >= 0) counted(found);
    return found >= 0;
  };
}
