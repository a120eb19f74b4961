import { isExposed, isPublicSecret } from '#libs/config';
import type { RequestOf } from '#libs/contract';
import type { directory } from '#services/directory';
import { type GatewayConfig, gatewaySettings } from './config.ts';

type Login = RequestOf<typeof directory.rpcs.login>;
export type LoginFilter = (login: Login) => Login;

/**
 * A login as the directory gets it. Where others reach the gateway, a published password becomes an empty one, which no account has: it is answered,
 * counted and recorded as a wrong one, whatever is stored (rules/access#passwords).
 */
export function createLoginFilter(config: Pick<GatewayConfig, 'HOST' | 'NODE_ENV'>): LoginFilter {
  if (!isExposed(gatewaySettings.properties, config, config.NODE_ENV)) return (login) => login;
  return (login) => (isPublicSecret(login.password) ? { ...login, password: '' } : login);
}
