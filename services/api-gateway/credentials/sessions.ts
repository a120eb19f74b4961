/** Tokens of logins: those of the API, and those of the console, which differ in nothing that a client could change (S3). */
import type { Bus } from '#libs/nats';
import { directory } from '#services/directory';
import { createRemembered, type RememberedCredential } from './remembered.ts';

const pattern = /^svc_agentic_([a-z0-9]{32})_[A-Za-z0-9_-]{43}$/;

interface SessionsOptions {
  /** True for those of the console, and no others. */
  readonly forConsole?: boolean;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: (() => number) | undefined;
}

export function createSessions(bus: Pick<Bus, 'call'>, { forConsole = false, now }: SessionsOptions = {}): RememberedCredential {
  return createRemembered({
    pattern,
    ask: (token, call) => bus.call(directory.rpcs.verifySession, { token, ...(forConsole ? { for_console: true } : {}) }, call),
    now,
  });
}
