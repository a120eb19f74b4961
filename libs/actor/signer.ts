/** The gateway's side: it alone can say who acts (architecture#actors). */
import { sign as signBytes } from 'node:crypto';
import type { Actor } from '#libs/contract';
import { type ActorCodec, AssertionRejected, type Claims, assertionLifetimeMs, renewAfterMs } from './assertion.ts';
import { readSigningKey } from './keys.ts';

export interface ActorSigner extends ActorCodec {
  /** An assertion that is good for one HTTP request alone: `POST`, `/internal/…`. */
  writeFor(actor: Actor, method: string, path: string): string;
}

interface Made {
  readonly text: string;
  readonly atMs: number;
}

/** Actors of two minutes: one entry each for the accounts at work. */
const maxRemembered = 10_000;

/**
 * Signs for actors, each anew only when half the life of its last assertion is over: a request costs a look-up.
 * @param now milliseconds of the wall clock
 * @throws Error when the key is none
 */
export function createActorSigner(signingKey: string, now: () => number = Date.now): ActorSigner {
  const { key, header } = readSigningKey(signingKey);
  /** The session memory of the gateway renews its objects every second; what they say stays. */
  const byActor = new WeakMap<Actor, Made>();
  const byContent = new Map<string, Made>();

  const sign = (actor: Actor, nowMs: number, req?: string): string => {
    const iat = Math.floor(nowMs / 1000);
    const claims: Claims = { actor, iat, exp: iat + assertionLifetimeMs / 1000, ...(req === undefined ? {} : { req }) };
    const text = `${header}.${Buffer.from(JSON.stringify(claims), 'utf8').toString('base64url')}`;
    return `${text}.${signBytes(null, Buffer.from(text, 'ascii'), key).toString('base64url')}`;
  };
  const isFresh = (made: Made | undefined, nowMs: number): made is Made =>
    made !== undefined && nowMs >= made.atMs && nowMs - made.atMs < renewAfterMs;

  return {
    encode: (actor) => {
      const nowMs = now();
      const last = byActor.get(actor);
      if (isFresh(last, nowMs)) return last.text;
      const content = JSON.stringify(actor);
      let made = byContent.get(content);
      if (!isFresh(made, nowMs)) {
        made = { text: sign(actor, nowMs), atMs: nowMs };
        byContent.delete(content); // the order of the entries is that of their making
        byContent.set(content, made);
        const oldest = byContent.size > maxRemembered ? byContent.keys().next().value : undefined;
        if (oldest !== undefined) byContent.delete(oldest);
      }
      byActor.set(actor, made);
      return made.text;
    },
    writeFor: (actor, method, path) => sign(actor, now(), requestName(method, path)),
    // Nobody calls the gateway.
    decode: () => {
      throw new AssertionRejected('unknown_key');
    },
  };
}

/** A request in one line, as assertions and tickets name it; HEAD is GET without the body. */
export function requestName(method: string, path: string): string {
  return `${method === 'HEAD' ? 'GET' : method} ${path}`;
}
