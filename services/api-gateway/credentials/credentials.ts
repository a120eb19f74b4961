/** Every form of token that this gateway takes, and what makes it forget what it remembers of them. */
import type { Bus } from '#libs/nats';
import { directory } from '#services/directory';
import type { IdentityProvider } from '../identity-provider.ts';
import type { Credential } from './credential.ts';
import { createIdentityTokens } from './identity-tokens.ts';
import { createKeys } from './keys.ts';
import { createSessions } from './sessions.ts';

export interface Credentials {
  /** Of the APIs. */
  readonly credentials: readonly Credential[];
  /** Of the console. */
  readonly consoleSessions: Credential;
  /** Ends what this replica remembers of a session. */
  readonly forgetSession: (key: string) => void;
}

/** @param now milliseconds of a clock that never goes back */
export function createCredentials(bus: Bus, provider: IdentityProvider | undefined, now?: () => number): Credentials {
  const sessions = createSessions(bus, { now });
  const consoleSessions = createSessions(bus, { forConsole: true, now });
  const forgetSession = (key: string): void => [sessions, consoleSessions].forEach((known) => known.forget(key));
  bus.subscribeEvent(directory.events.sessionsRevoked, ({ session_keys }) => session_keys.forEach(forgetSession));
  const keys = createKeys(bus, now);
  bus.subscribeEvent(directory.events.keysChanged, ({ key_ids }) => key_ids.forEach((id) => keys.forget(id)));
  const credentials = [sessions, keys];
  if (provider?.verifier !== undefined) {
    credentials.push(createIdentityTokens({ bus, verifier: provider.verifier, onFailure: provider.countRefusal, now }));
  }
  bus.onReconnect(() => [...credentials, consoleSessions].forEach((credential) => credential.forgetAll()));
  return { credentials, consoleSessions, forgetSession };
}
