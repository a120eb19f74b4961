/**
 * The verifier accepts valid tokens of a certified provider and rejects invalid ones (rules/access#identity-provider;
 * S1, S4, S5).
 */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createProvider,
  createSigningKeys,
  createVerifier,
  TokenRejectedError,
  type Verifier,
} from '#libs/infrastructure/oidc';
import { createOutbound, type Outbound } from '#libs/infrastructure/outbound';
import { type IdentityProvider, startIdentityProvider, waitFor } from '#libs/product/testing';

let provider: IdentityProvider;
let outbound: Outbound;
let verifier: Verifier;
/** The clocks that the test sets: wall time and monotonic time in milliseconds. */
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

/** Returns `accepted`, the reason for the rejection, or the code of another error. */
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

describe('access tokens of the provider (S1)', () => {
  it('accepts an access token from the code flow, with its subject and email', async () => {
    await provider.describe('ada', { email: 'ada@example.org', email_verified: true });
    const { identity, endsAtMs } = await verifier.verify(await provider.accessToken('ada'));
    expect(identity).toEqual({ issuer: provider.issuer, subject: 'ada', verifiedEmail: 'ada@example.org' });
    expect(endsAtMs).toBeGreaterThan(wallMs + 60_000);
  });

  it.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'])(
    'accepts a token signed by %s',
    async (alg) => {
      expect(await judge(await provider.sign({}, { alg }))).toBe('accepted');
    },
  );

  it.each(['JWT', 'at+jwt', 'application/at+jwt', undefined])('accepts a token of the type %j', async (typ) => {
    expect(await judge(await provider.sign({}, { typ }))).toBe('accepted');
  });

  it('uses the email of a token only if email_verified is the boolean true', async () => {
    const emails = [];
    for (const email_verified of [true, 'true', 1, false, undefined]) {
      const token = await provider.sign({ email: 'ada@example.org', email_verified });
      emails.push((await verifier.verify(token)).identity.verifiedEmail);
    }
    expect(emails).toEqual(['ada@example.org', undefined, undefined, undefined, undefined]);
  });
});

describe('invalid access tokens (S1)', () => {
  it('rejects a token without a signature for every spelling of its algorithm', async () => {
    const [, payload = ''] = (await provider.sign()).split('.');
    for (const alg of ['none', 'None', 'NONE']) {
      expect(await judge(`${part({ alg })}.${payload}.`)).toBe('algorithm');
      expect(await judge(`${part({ alg })}.${payload}.c2ln`)).toBe('algorithm');
    }
  });

  it.each(['HS256', 'HS384', 'HS512'])(
    'rejects a token signed by %s with the public key as the secret',
    async (alg) => {
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
    },
  );

  it('rejects a token whose algorithm differs from that of its key', async () => {
    const [, payload = '', signature = ''] = (await provider.sign({}, { alg: 'ES256' })).split('.');
    const [rsaHeader = ''] = (await provider.sign()).split('.');
    expect(await judge(`${rsaHeader}.${payload}.${signature}`)).toBe('signature');
  });

  it('rejects a token with any changed character', async () => {
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
  ])('rejects a token for its invalid %s: %j', async (refusal, claims) => {
    expect(await judge(await provider.sign(claims))).toBe(refusal);
  });

  it.each(['logout+jwt', 'secevent+jwt', 'dpop+jwt', ''])('rejects a token of the type %j', async (typ) => {
    expect(await judge(await provider.sign({}, { typ }))).toBe('type');
  });

  it('rejects a token with an unknown critical header', async () => {
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
  ])('rejects malformed text as a token: %.40s', async (text) => expect(await judge(text)).toBe('malformed'));

  it('accepts a token with one of the configured audiences', async () => {
    const both = create(provider.issuer, ['https://other.example.org', provider.audience]);
    expect(await judge(await provider.sign({ aud: ['https://third.example.org', provider.audience] }), both)).toBe(
      'accepted',
    );
  });
});

describe('clock differences (S1)', () => {
  it('accepts a clock difference of 30 seconds from the provider and no more', async () => {
    const judged = [];
    for (const claims of [{ exp: seconds(-29) }, { exp: seconds(-31) }, { nbf: seconds(29) }, { nbf: seconds(32) }])
      judged.push(await judge(await provider.sign(claims)));
    expect(judged).toEqual(['accepted', 'expired', 'accepted', 'early']);
  });

  it('rejects a cached token after it expires', async () => {
    const token = await provider.sign({ exp: seconds(60) });
    expect(await judge(token)).toBe('accepted');
    wallMs += 91_000;
    expect(await judge(token)).toBe('expired');
  });
});

describe('keys of the provider (S1)', () => {
  it("reads the provider's keys once for many concurrent tokens", async () => {
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, index) => provider.sign({ sub: `person-${index}` })),
    );
    expect(await Promise.all(tokens.map((token) => judge(token)))).toEqual(tokens.map(() => 'accepted'));
    expect(await provider.countReads()).toBe(1);
  });

  it('reads the keys again for a token with a new key, and accepts it immediately', async () => {
    const old = await provider.sign();
    expect(await judge(old)).toBe('accepted');
    await provider.rotate();
    expect(await judge(await provider.sign())).toBe('accepted');
    expect(await judge(old)).toBe('key');
    expect(await provider.countReads()).toBe(2);
  });

  it('reads the keys at most every 30 seconds for tokens with unknown keys', async () => {
    expect(await judge(await provider.sign())).toBe('accepted');
    const flood = await Promise.all(
      Array.from({ length: 50 }, (_, index) => provider.sign({}, { kid: `unknown-${index}` })),
    );
    for (const elapsed of [0, 10_000, 29_999]) {
      nowMs = elapsed;
      expect(new Set(await Promise.all(flood.map((token) => judge(token))))).toEqual(new Set(['key']));
    }
    expect(await provider.countReads()).toBe(2);
    nowMs = 30_000;
    await Promise.all(flood.map((token) => judge(token)));
    expect(await provider.countReads()).toBe(1);
  });

  it('rejects expired tokens and tokens of other issuers without reading keys', async () => {
    expect(await judge(await provider.sign({ iss: 'https://elsewhere.example.org' }, { kid: 'x' }))).toBe('issuer');
    expect(await judge(await provider.sign({ exp: seconds(-60) }, { kid: 'x' }))).toBe('expired');
    expect(await provider.countReads()).toBe(0);
  });

  it('reads the keys again after ten minutes, and then rejects tokens of a removed key', async () => {
    const token = await provider.sign();
    expect(await judge(token)).toBe('accepted');
    await provider.rotate();
    nowMs = 600_000;
    await waitFor(async () => (await judge(token)) === 'key');
  });

  it('accepts a token without a kid if exactly one key matches', async () => {
    expect(await judge(await provider.sign({}, { kid: undefined }))).toBe('accepted');
  });
});

describe('an unavailable provider (S4)', () => {
  it('accepts tokens of cached keys during an outage, and returns unavailable for unknown keys', async () => {
    const known = await provider.sign();
    expect(await judge(known)).toBe('accepted');
    await provider.disconnect();
    await provider.rotate();
    const unknown = await provider.sign();
    expect([await judge(unknown), await judge(unknown), await judge(known)]).toEqual([
      'unavailable',
      'unavailable',
      'accepted',
    ]);
    nowMs = 700_000; // The cached keys have also expired.
    expect([await judge(known), await judge(known)]).toEqual(['accepted', 'accepted']);
    await provider.return();
    nowMs += 30_000;
    await waitFor(async () => (await judge(unknown)) === 'accepted');
    expect(failures.length).toBeGreaterThan(0);
  });

  it('retries reading the keys every five seconds while none is cached', async () => {
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

  it('rejects a discovery document of another issuer, or with a key URL that is not allowed (S5)', async () => {
    const other = create(`${provider.issuer}/`);
    expect(await judge(await provider.sign({ iss: `${provider.issuer}/` }), other)).toBe('unavailable');
    expect(String(failures[0])).toContain('another issuer');
    const { issuer } = provider;
    const unnamed = createProvider({ issuer, outbound, allowedHosts: 'elsewhere.example.org' });
    await expect(unnamed.readKeys()).rejects.toThrow('jwks_uri');
  });
});
