import { describe, expect, it } from '@jest/globals';
import { generateKeyPairSync, sign } from 'node:crypto';
import type { Actor } from '#libs/infrastructure/contract';
import {
  AssertionRejected,
  assertionLifetimeMs,
  createActorSigner,
  createActorVerifier,
  generateActorKeys,
} from '#libs/infrastructure/actor';

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

/**
 * Returns a signer with the clock of the gateway and a verifier with the clock of a service; the test moves both
 * clocks.
 */
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

describe('actor assertions', () => {
  it('decodes an assertion to the actor that the gateway signed', () => {
    const { signer, verifier } = createSides();
    expect(verifier.decode(signer.encode(ada))).toEqual(ada);
    expect(verifier.decode(signer.encode({ kind: 'shared' }))).toEqual({ kind: 'shared' });
  });

  it('returns the same assertion for equal actors during half of its lifetime', () => {
    const { clock, signer } = createSides();
    const first = signer.encode(ada);
    clock.gatewayMs += assertionLifetimeMs / 2 - 1;
    expect(signer.encode(ada)).toBe(first);
    expect(signer.encode({ ...ada })).toBe(first);
    clock.gatewayMs += 1;
    expect(signer.encode(ada)).not.toBe(first);
    expect(signer.encode({ ...ada, superuser: true })).not.toBe(signer.encode(ada));
  });

  it('signs a new assertion when the clock of the gateway is set back', () => {
    const { clock, signer } = createSides();
    const first = signer.encode(ada);
    clock.gatewayMs -= 60_000;
    expect(signer.encode(ada)).not.toBe(first);
  });

  it('accepts an assertion until five seconds after its expiry, cached or not', () => {
    const { clock, signer, verifier } = createSides();
    const text = signer.encode(ada);
    verifier.decode(text);
    clock.serviceMs += assertionLifetimeMs + 5_000 - 1;
    expect(verifier.decode(text)).toEqual(ada);
    clock.serviceMs += 1;
    expect(reasonOf(() => verifier.decode(text))).toBe('expired');
    expect(reasonOf(() => verifier.decode(text))).toBe('expired');
  });

  it('accepts an assertion with a start at most five seconds in the future', () => {
    const { clock, signer, verifier } = createSides();
    const text = signer.encode(ada);
    clock.serviceMs -= 5_000;
    expect(verifier.decode(text)).toEqual(ada);
    clock.serviceMs -= 1;
    expect(reasonOf(() => verifier.decode(text))).toBe('early');
  });

  it('rejects a modified assertion', () => {
    const { signer, verifier } = createSides();
    const [header = '', payload = '', signature = ''] = signer.encode(ada).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { actor: Actor };
    const raised = encode({ ...claims, actor: { ...claims.actor, superuser: true } });
    expect(reasonOf(() => verifier.decode(`${header}.${raised}.${signature}`))).toBe('bad_signature');
    expect(reasonOf(() => verifier.decode(`${header}.${payload}.${'A'.repeat(86)}`))).toBe('bad_signature');
    expect(reasonOf(() => verifier.decode(`${encode({ alg: 'none' })}.${raised}.`))).toBe('malformed');
    expect(reasonOf(() => verifier.decode(`${encode({ alg: 'none' })}.${raised}.x`))).toBe('unknown_key');
  });

  it('rejects an assertion signed with another key, whatever its header', () => {
    const { signer, verifier } = createSides();
    const foreign = createActorSigner(generateActorKeys().signingKey, () => startMs).encode(ada);
    expect(reasonOf(() => verifier.decode(foreign))).toBe('unknown_key');
    const [header = '', payload = ''] = signer.encode(ada).split('.');
    const other = sign(null, Buffer.from(`${header}.${payload}`), generateKeyPairSync('ed25519').privateKey).toString(
      'base64url',
    );
    expect(reasonOf(() => verifier.decode(`${header}.${payload}.${other}`))).toBe('bad_signature');
  });

  it('rejects malformed, empty and oversized assertions', () => {
    const { verifier } = createSides();
    for (const text of [
      JSON.stringify(ada),
      '{"kind":"system","name":"x"}',
      '',
      '..',
      'a.b.c.d',
      `a.${'b'.repeat(5_000)}.c`,
    ]) {
      expect(['malformed', 'unknown_key']).toContain(reasonOf(() => verifier.decode(text)));
    }
  });

  it('encodes a decoded actor as its original assertion, and no other actors', () => {
    const { signer, verifier } = createSides();
    const text = signer.encode(ada);
    expect(verifier.encode(verifier.decode(text))).toBe(text);
    expect(() => verifier.encode(ada)).toThrow('without an assertion of the gateway');
    expect(() => verifier.encode({ ...verifier.decode(text) })).toThrow('without an assertion of the gateway');
    expect(Object.isFrozen(verifier.decode(text))).toBe(true);
  });

  it('rejects an assertion for another HTTP request', () => {
    const { signer, verifier } = createSides();
    const text = signer.encodeFor(ada, 'POST', '/internal/conversations/1/audio');
    expect(verifier.decodeFor(text, 'POST', '/internal/conversations/1/audio')).toEqual(ada);
    expect(reasonOf(() => verifier.decodeFor(text, 'PUT', '/internal/conversations/1/audio'))).toBe('other_request');
    expect(reasonOf(() => verifier.decodeFor(text, 'POST', '/internal/conversations/2/audio'))).toBe('other_request');
    expect(reasonOf(() => verifier.decodeFor(signer.encode(ada), 'POST', '/internal/conversations/1/audio'))).toBe(
      'other_request',
    );
    const read = signer.encodeFor(ada, 'HEAD', '/a');
    expect(verifier.decodeFor(read, 'GET', '/a')).toEqual(ada);
    expect(verifier.encode(verifier.decodeFor(read, 'HEAD', '/a'))).toBe(read);
  });
});

describe('actor keys', () => {
  it('accepts several public keys during a rotation', () => {
    const next = generateActorKeys();
    const { signer, verifier } = createSides(`${keys.publicKey}\n ${next.publicKey}`);
    const nextSigner = createActorSigner(next.signingKey, () => startMs);
    expect(verifier.decode(signer.encode(ada))).toEqual(ada);
    expect(verifier.decode(nextSigner.encode(ada))).toEqual(ada);
  });

  it('rejects invalid keys', () => {
    expect(() => createActorVerifier('not a key')).toThrow();
    expect(() => createActorSigner(keys.publicKey)).toThrow();
  });
});

describe('cache of verified assertions', () => {
  it('drops the oldest cached assertion when the cache is full', () => {
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
