import { isExposed, isPublicSecret } from '#libs/config';
import type { RequestOf } from '#libs/contract';
import type { directory } from '#services/directory';
import { type GatewayConfig, gatewaySettings } from './config.ts';

type Login = RequestOf<typeof directory.rpcs.login>;
export type LoginFilter = (login: Login) => Login;

/**
 * The function replaces a published password by an empty one when the gateway is reachable from other hosts. No account has an empty password, so the login
 * is handled, counted and recorded as a wrong password (rules/access#passwords).
 */
export function createLoginFilter(config: Pick<GatewayConfig, 'HOST' | 'NODE_ENV'>): LoginFilter {
  if (!isExposed(gatewaySettings.properties, config, config.NODE_ENV)) return (login) => login;
  return (login) => (isPublicSecret(login.password) ? { ...login, password: '' } : login);
}
