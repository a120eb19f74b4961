import { describe, expect, it } from '@jest/globals';
import { generateKeyPairSync, sign } from 'node:crypto';
import type { Actor } from '#libs/contract';
import { AssertionRejected, assertionLifetimeMs, createActorSigner, createActorVerifier, generateActorKeys } from '#libs/actor';

const keys = generateActorKeys();
const startMs = Date.UTC(2026, 0, 1);
const ada: Actor = {
  kind: 'user',
  accountId: 7,
  personId: 8,
  superuser: false,
  globalEditor: false,
  coherenceAccess: true,
  sessionKey: 'k'.repeat(32),
};

/** A gateway and a service with clocks that the test moves. */
function createSides(publicKey = keys.publicKey) {
  const clock = { gatewayMs: startMs, serviceMs: startMs };
  const signer = createActorSigner(keys.signingKey, () => clock.gatewayMs);
  const verifier = createActorVerifier(publicKey, () => clock.serviceMs);
  return { clock, signer, verifier };
}

function reasonOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return error instanceof AssertionRejected ? error.reason : String(error);
  }
  return 'believed';
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');

describe('an assertion', () => {
  it('brings the actor as the gateway knows it', () => {
    const { signer, verifier } = createSides();
    expect(verifier.decode(signer.encode(ada))).toEqual(ada);
    expect(verifier.decode(signer.encode({ kind: 'shared' }))).toEqual({ kind: 'shared' });
  });

  it('is the same for half of its life, for equal actors, and another one after it', () => {
    const { clock, signer } = createSides();
    const first = signer.encode(ada);
    clock.gatewayMs += assertionLifetimeMs / 2 - 1;
    expect(signer.encode(ada)).toBe(first);
    expect(signer.encode({ ...ada })).toBe(first);
    clock.gatewayMs += 1;
    expect(signer.encode(ada)).not.toBe(first);
    expect(signer.encode({ ...ada, superuser: true })).not.toBe(signer.encode(ada));
  });

  it('is made anew when the clock of the gateway was put back', () => {
    const { clock, signer } = createSides();
    const first = signer.encode(ada);
    clock.gatewayMs -= 60_000;
    expect(signer.encode(ada)).not.toBe(first);
  });

  it('is believed until its life and five seconds are over, remembered or not', () => {
    const { clock, signer, verifier } = createSides();
    const text = signer.encode(ada);
    verifier.decode(text);
    clock.serviceMs += assertionLifetimeMs + 5_000 - 1;
    expect(verifier.decode(text)).toEqual(ada);
    clock.serviceMs += 1;
    expect(reasonOf(() => verifier.decode(text))).toBe('expired');
    expect(reasonOf(() => verifier.decode(text))).toBe('expired');
  });

  it('is believed by a clock that is five seconds behind, and not by one further behind', () => {
    const { clock, signer, verifier } = createSides();
    const text = signer.encode(ada);
    clock.serviceMs -= 5_000;
    expect(verifier.decode(text)).toEqual(ada);
    clock.serviceMs -= 1;
    expect(reasonOf(() => verifier.decode(text))).toBe('early');
  });

  it('is refused when anything in it was changed', () => {
    const { signer, verifier } = createSides();
    const [header = '', payload = '', signature = ''] = signer.encode(ada).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { actor: Actor };
    const raised = encode({ ...claims, actor: { ...claims.actor, superuser: true } });
    expect(reasonOf(() => verifier.decode(`${header}.${raised}.${signature}`))).toBe('bad_signature');
    expect(reasonOf(() => verifier.decode(`${header}.${payload}.${'A'.repeat(86)}`))).toBe('bad_signature');
    expect(reasonOf(() => verifier.decode(`${encode({ alg: 'none' })}.${raised}.`))).toBe('malformed');
    expect(reasonOf(() => verifier.decode(`${encode({ alg: 'none' })}.${raised}.x`))).toBe('unknown_key');
  });

  it('is refused when another key signed it, whatever its header says', () => {
    const { signer, verifier } = createSides();
    const foreign = createActorSigner(generateActorKeys().signingKey, () => startMs).encode(ada);
    expect(reasonOf(() => verifier.decode(foreign))).toBe('unknown_key');
    const [header = '', payload = ''] = signer.encode(ada).split('.');
    const other = sign(null, Buffer.from(`${header}.${payload}`), generateKeyPairSync('ed25519').privateKey).toString('base64url');
    expect(reasonOf(() => verifier.decode(`${header}.${payload}.${other}`))).toBe('bad_signature');
  });

  it('is refused when it is none: an unsigned actor, nothing, too much', () => {
    const { verifier } = createSides();
    for (const text of [JSON.stringify(ada), '{"kind":"system","name":"x"}', '', '..', 'a.b.c.d', `a.${'b'.repeat(5_000)}.c`]) {
      expect(['malformed', 'unknown_key']).toContain(reasonOf(() => verifier.decode(text)));
    }
  });

  it('is handed on as it came, by who has read it alone', () => {
    const { signer, verifier } = createSides();
    const text = signer.encode(ada);
    expect(verifier.encode(verifier.decode(text))).toBe(text);
    expect(() => verifier.encode(ada)).toThrow('without an assertion of the gateway');
    expect(() => verifier.encode({ ...verifier.decode(text) })).toThrow('without an assertion of the gateway');
    expect(Object.isFrozen(verifier.decode(text))).toBe(true);
  });

  it('for one HTTP request is good for no other one', () => {
    const { signer, verifier } = createSides();
    const text = signer.encodeFor(ada, 'POST', '/internal/conversations/1/audio');
    expect(verifier.decodeFor(text, 'POST', '/internal/conversations/1/audio')).toEqual(ada);
    expect(reasonOf(() => verifier.decodeFor(text, 'PUT', '/internal/conversations/1/audio'))).toBe('other_request');
    expect(reasonOf(() => verifier.decodeFor(text, 'POST', '/internal/conversations/2/audio'))).toBe('other_request');
    expect(reasonOf(() => verifier.decodeFor(signer.encode(ada), 'POST', '/internal/conversations/1/audio'))).toBe('other_request');
    const read = signer.encodeFor(ada, 'HEAD', '/a');
    expect(verifier.decodeFor(read, 'GET', '/a')).toEqual(ada);
    expect(verifier.encode(verifier.decodeFor(read, 'HEAD', '/a'))).toBe(read);
  });
});

describe('public keys', () => {
  it('are believed side by side while one takes the place of another', () => {
    const next = generateActorKeys();
    const { signer, verifier } = createSides(`${keys.publicKey}\n ${next.publicKey}`);
    const nextSigner = createActorSigner(next.signingKey, () => startMs);
    expect(verifier.decode(signer.encode(ada))).toEqual(ada);
    expect(verifier.decode(nextSigner.encode(ada))).toEqual(ada);
  });

  it('that are none end the start', () => {
    expect(() => createActorVerifier('not a key')).toThrow();
    expect(() => createActorSigner(keys.publicKey)).toThrow();
  });
});

describe('what a service remembers', () => {
  it('has a bound: the oldest is checked again', () => {
    const { signer, verifier } = createSides();
    const first = signer.encode(ada);
    const known = verifier.decode(first);
    expect(verifier.decode(first)).toBe(known);
    for (let id = 0; id < 10_000; id++) verifier.decode(signer.encode({ ...ada, accountId: 1000 + id }));
    const again = verifier.decode(first);
    expect(again).toEqual(ada);
    expect(again).not.toBe(known);
  });
});
