/** Tokens of a certified provider, good and bad ones, before the verifier (rules/access#identity-provider; S1, S4, S5). */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createProvider, createSigningKeys, createVerifier, TokenRejectedError, type Verifier } from '#libs/oidc';
import { createOutbound, type Outbound } from '#libs/outbound';
import { type IdentityProvider, startIdentityProvider, waitFor } from '#libs/testing';

let provider: IdentityProvider;
let outbound: Outbound;
let verifier: Verifier;
/** Clocks that the test moves: the wall's, in milliseconds, and the one that never goes back. */
let wallMs: number;
let nowMs: number;
let failures: unknown[];

beforeAll(async () => {
  provider = await startIdentityProvider();
  outbound = createOutbound({ allowedHosts: provider.host });
});
afterAll(async () => {
  await outbound.close();
  await provider.stop();
});

function create(issuer = provider.issuer, audiences = [provider.audience]): Verifier {
  failures = [];
  const asked = createProvider({ issuer, outbound, allowedHosts: provider.host });
  const keys = createSigningKeys({ provider: asked, now: () => nowMs, onFailure: (error) => failures.push(error) });
  return createVerifier({ issuer, audiences, keys, now: () => wallMs });
}

beforeEach(async () => {
  wallMs = Date.now();
  nowMs = 0;
  verifier = create();
  await provider.countReads();
});

/** Why it is refused; `accepted`, or the code of another error. */
async function judge(token: string, by = verifier): Promise<string> {
  try {
    await by.verify(token);
    return 'accepted';
  } catch (error) {
    return error instanceof TokenRejectedError ? error.refusal : String((error as { code?: unknown }).code);
  }
}
const seconds = (offset: number): number => Math.floor(wallMs / 1000) + offset;
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a token of the provider (S1)', () => {
  it('is accepted as an app gets it by the code flow, and names its subject', async () => {
    await provider.describe('ada', { email: 'ada@example.org', email_verified: true });
    const { identity, endsAtMs } = await verifier.verify(await provider.accessToken('ada'));
    expect(identity).toEqual({ issuer: provider.issuer, subject: 'ada', verifiedEmail: 'ada@example.org' });
    expect(endsAtMs).toBeGreaterThan(wallMs + 60_000);
  });

  it.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'])(
    'is accepted when it is signed by %s',
    async (alg) => {
      expect(await judge(await provider.sign({}, { alg }))).toBe('accepted');
    },
  );

  it.each(['JWT', 'at+jwt', 'application/at+jwt', undefined])('is accepted of the type %j', async (typ) => {
    expect(await judge(await provider.sign({}, { typ }))).toBe('accepted');
  });

  it('brings an email only when that is verified by a true that is no text', async () => {
    const emails = [];
    for (const email_verified of [true, 'true', 1, false, undefined]) {
      const token = await provider.sign({ email: 'ada@example.org', email_verified });
      emails.push((await verifier.verify(token)).identity.verifiedEmail);
    }
    expect(emails).toEqual(['ada@example.org', undefined, undefined, undefined, undefined]);
  });
});

describe('a token with a fault (S1)', () => {
  it('is refused without a signature, whatever it calls that', async () => {
    const [, payload = ''] = (await provider.sign()).split('.');
    for (const alg of ['none', 'None', 'NONE']) {
      expect(await judge(`${part({ alg })}.${payload}.`)).toBe('algorithm');
      expect(await judge(`${part({ alg })}.${payload}.c2ln`)).toBe('algorithm');
    }
  });

  it.each(['HS256', 'HS384', 'HS512'])('is refused when it is signed by %s with the public key as the secret', async (alg) => {
    const [header = '', payload = ''] = (await provider.sign()).split('.');
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
    const answer = await fetch(`${provider.issuer}/jwks`);
    const { keys } = (await answer.json()) as { keys: { kid: string; n?: string }[] };
    const jwk = keys.find((key) => key.kid === kid);
    for (const secret of [JSON.stringify(jwk), Buffer.from(jwk?.n ?? '', 'base64url')]) {
      const signed = `${part({ alg, kid })}.${payload}`;
      const signature = createHmac(`sha${alg.slice(2)}`, secret)
        .update(signed)
        .digest('base64url');
      expect(await judge(`${signed}.${signature}`)).toBe('algorithm');
    }
  });

  it('is refused when it says another algorithm than its key is for', async () => {
    const [, payload = '', signature = ''] = (await provider.sign({}, { alg: 'ES256' })).split('.');
    const [rsaHeader = ''] = (await provider.sign()).split('.');
    expect(await judge(`${rsaHeader}.${payload}.${signature}`)).toBe('signature');
  });

  it('is refused when anything in it was changed', async () => {
    const [header = '', payload = '', signature = ''] = (await provider.sign({ sub: 'ada' })).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    expect(await judge(`${header}.${part({ ...claims, sub: 'root' })}.${signature}`)).toBe('signature');
    expect(await judge(`${header}.${payload}.${'A'.repeat(342)}`)).toBe('signature');
  });

  it.each([
    ['issuer', { iss: 'https://elsewhere.example.org' }],
    ['issuer', { iss: undefined }],
    ['audience', { aud: 'https://other.example.org' }],
    ['audience', { aud: ['https://other.example.org'] }],
    ['audience', { aud: undefined }],
    ['claims', { exp: undefined }],
    ['claims', { exp: 'tomorrow' }],
    ['claims', { sub: undefined }],
    ['claims', { sub: '' }],
    ['claims', { sub: 7 }],
    ['claims', { sub: 'x'.repeat(256) }],
    ['claims', { sub: 'a\u0000b' }],
    ['type', { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }],
  ])('is refused for its %s: %j', async (refusal, claims) => {
    expect(await judge(await provider.sign(claims))).toBe(refusal);
  });

  it.each(['logout+jwt', 'secevent+jwt', 'dpop+jwt', ''])('is refused of the type %j', async (typ) => {
    expect(await judge(await provider.sign({}, { typ }))).toBe('type');
  });

  it('is refused with a critical header that nobody here knows', async () => {
    const [header = '', payload = '', signature = ''] = (await provider.sign()).split('.');
    const critical = { ...(JSON.parse(Buffer.from(header, 'base64url').toString()) as object), crit: ['x'], x: 1 };
    expect(await judge(`${part(critical)}.${payload}.${signature}`)).toBe('malformed');
  });

  it.each([
    'eyJ',
    'eyJ.eyJ.eyJ',
    'eyJhbGciOiJSUzI1NiJ9..',
    `eyJ${'x'.repeat(20_000)}.e30.e30`,
    `${part({ alg: 'RS256' })}.${part([])}.e30`,
  ])('is refused when it is none: %.40s', async (text) => expect(await judge(text)).toBe('malformed'));

  it('is accepted for one of several audiences', async () => {
    const both = create(provider.issuer, ['https://other.example.org', provider.audience]);
    expect(await judge(await provider.sign({ aud: ['https://third.example.org', provider.audience] }), both)).toBe('accepted');
  });
});

describe('a clock that goes another way (S1)', () => {
  it('may differ by 30 seconds from the provider, and not by more', async () => {
    const judged = [];
    for (const claims of [{ exp: seconds(-29) }, { exp: seconds(-31) }, { nbf: seconds(29) }, { nbf: seconds(32) }])
      judged.push(await judge(await provider.sign(claims)));
    expect(judged).toEqual(['accepted', 'expired', 'accepted', 'early']);
  });

  it('ends a token while it is known', async () => {
    const token = await provider.sign({ exp: seconds(60) });
    expect(await judge(token)).toBe('accepted');
    wallMs += 91_000;
    expect(await judge(token)).toBe('expired');
  });
});

describe('keys of the provider (S1)', () => {
  it('are read once for many tokens at once', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, index) => provider.sign({ sub: `person-${index}` })));
    expect(await Promise.all(tokens.map((token) => judge(token)))).toEqual(tokens.map(() => 'accepted'));
    expect(await provider.countReads()).toBe(1);
  });

  it('are read again for a token of a new key, which is accepted at once', async () => {
    const old = await provider.sign();
    expect(await judge(old)).toBe('accepted');
    await provider.rotate();
    expect(await judge(await provider.sign())).toBe('accepted');
    expect(await judge(old)).toBe('key');
    expect(await provider.countReads()).toBe(2);
  });

  it('are read again at most every 30 seconds, however many unknown keys are named', async () => {
    expect(await judge(await provider.sign())).toBe('accepted');
    const flood = await Promise.all(Array.from({ length: 50 }, (_, index) => provider.sign({}, { kid: `unknown-${index}` })));
    for (const elapsed of [0, 10_000, 29_999]) {
      nowMs = elapsed;
      expect(new Set(await Promise.all(flood.map((token) => judge(token))))).toEqual(new Set(['key']));
    }
    expect(await provider.countReads()).toBe(2);
    nowMs = 30_000;
    await Promise.all(flood.map((token) => judge(token)));
    expect(await provider.countReads()).toBe(1);
  });

  it('are not read for tokens of others, or for expired ones', async () => {
    expect(await judge(await provider.sign({ iss: 'https://elsewhere.example.org' }, { kid: 'x' }))).toBe('issuer');
    expect(await judge(await provider.sign({ exp: seconds(-60) }, { kid: 'x' }))).toBe('expired');
    expect(await provider.countReads()).toBe(0);
  });

  it('are read anew after ten minutes, so that a withdrawn one does not stay good', async () => {
    const token = await provider.sign();
    expect(await judge(token)).toBe('accepted');
    await provider.rotate();
    nowMs = 600_000;
    await waitFor(async () => (await judge(token)) === 'key');
  });

  it('are found without a kid where one alone fits', async () => {
    expect(await judge(await provider.sign({}, { kid: undefined }))).toBe('accepted');
  });
});

describe('a provider that is away (S4)', () => {
  it('leaves tokens of known keys good; unknown keys cannot be checked, and are again when it is back', async () => {
    const known = await provider.sign();
    expect(await judge(known)).toBe('accepted');
    await provider.disconnect();
    await provider.rotate();
    const unknown = await provider.sign();
    expect([await judge(unknown), await judge(unknown), await judge(known)]).toEqual(['unavailable', 'unavailable', 'accepted']);
    nowMs = 700_000; // the keys are old, too
    expect([await judge(known), await judge(known)]).toEqual(['accepted', 'accepted']);
    await provider.return();
    nowMs += 30_000;
    await waitFor(async () => (await judge(unknown)) === 'accepted');
    expect(failures.length).toBeGreaterThan(0);
  });

  it('is asked again every five seconds while no key is known', async () => {
    await provider.fail(500);
    const token = await provider.sign();
    const judged = [];
    for (const elapsed of [0, 1, 4_999, 5_000]) {
      nowMs = elapsed;
      judged.push(await judge(token));
    }
    expect([judged, failures.length]).toEqual([['unavailable', 'unavailable', 'unavailable', 'unavailable'], 2]);
    await provider.fail(null);
    nowMs = 10_000;
    expect(await judge(token)).toBe('accepted');
  });

  it('is not believed when its document is that of another issuer, or is reached by http that nobody allowed (S5)', async () => {
    const other = create(`${provider.issuer}/`);
    expect(await judge(await provider.sign({ iss: `${provider.issuer}/` }), other)).toBe('unavailable');
    expect(String(failures[0])).toContain('another issuer');
    const { issuer } = provider;
    const unnamed = createProvider({ issuer, outbound, allowedHosts: 'elsewhere.example.org' });
    await expect(unnamed.readKeys()).rejects.toThrow('jwks_uri');
  });
});
