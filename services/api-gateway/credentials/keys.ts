/** Service keys (rules/access#service-keys; K1, K6). */
import type { Bus } from '#libs/nats';
import { directory } from '#services/directory';
import { createRemembered, type RememberedCredential } from './remembered.ts';

const pattern = /^svc_key_([0-9A-Za-z]{12,24})_[A-Za-z0-9_-]{43}$/;

/** @param now milliseconds of a clock that never goes back */
export function createKeys(bus: Pick<Bus, 'call'>, now?: () => number): RememberedCredential {
  return createRemembered({
    pattern,
    ask: (token, call) => bus.call(directory.rpcs.verifyKey, { token }, call),
    now,
  });
}
