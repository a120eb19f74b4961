/** A browser that signs in at a certified provider by the code flow, and others that try to pass for it (rules/console#session; S3). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type CodeSignIn, createCodeSignIn, createProvider, createSigningKeys } from '#libs/oidc';
import { createOutbound, type Outbound } from '#libs/outbound';
import {
  confidentialClientId,
  confidentialClientSecret,
  consoleClientId,
  consoleRedirectUri,
  type IdentityProvider,
  startIdentityProvider,
} from '#libs/testing';

const secret = 'a secret of the installation';

let provider: IdentityProvider;
let outbound: Outbound;
let flow: CodeSignIn;
let nowMs: number;

beforeAll(async () => {
  provider = await startIdentityProvider();
  outbound = createOutbound({ allowedHosts: provider.host });
  await provider.describe('ada', { email: 'ada@example.org', email_verified: true });
});
afterAll(async () => {
  await outbound.close();
  await provider.stop();
});

function create(changed: { clientId?: string; clientSecret?: string; secret?: string; allowedHosts?: string } = {}): CodeSignIn {
  const allowedHosts = changed.allowedHosts ?? provider.host;
  const asked = createProvider({ issuer: provider.issuer, outbound, allowedHosts });
  const keys = createSigningKeys({ provider: asked });
  return createCodeSignIn({
    provider: asked,
    keys,
    outbound,
    clientId: consoleClientId,
    secret,
    now: () => nowMs,
    ...changed,
    allowedHosts,
  });
}
beforeEach(() => {
  nowMs = Date.now();
  flow = create();
});

/** Begins, signs in, and comes back: the query of the address, and what the browser keeps. */
async function comeBack(by = flow, subject = 'ada'): Promise<{ query: string; kept: string }> {
  const { url, kept } = await by.begin(consoleRedirectUri);
  const back = new URL(await provider.signIn(url, subject));
  expect(`${back.origin}${back.pathname}`).toBe(consoleRedirectUri);
  return { query: back.search, kept };
}
const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (error: { code?: string }) => error.code,
  );
const withParameter = (query: string, name: string, value: string): string => {
  const changed = new URLSearchParams(query);
  changed.set(name, value);
  return `?${changed.toString()}`;
};

describe('the code flow (S3)', () => {
  it('asks for a code with PKCE, state and nonce, and shows none of what it keeps', async () => {
    const { url, kept } = await flow.begin(consoleRedirectUri);
    const asked = Object.fromEntries(new URL(url).searchParams);
    expect(asked).toEqual({
      client_id: consoleClientId,
      redirect_uri: consoleRedirectUri,
      response_type: 'code',
      scope: 'openid email',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(kept).toMatch(/^[\w.-]{100,3000}$/);
    const parts = kept.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'));
    for (const text of [asked['state'], asked['nonce'], 'redirectUri']) expect(parts.join()).not.toContain(text);
    expect((await flow.begin(consoleRedirectUri)).url).not.toBe(url);
  });

  it('says who has signed in, in another replica too', async () => {
    const { query, kept } = await comeBack();
    await expect(create().finish(query, kept)).resolves.toEqual({
      issuer: provider.issuer,
      subject: 'ada',
      verifiedEmail: 'ada@example.org',
    });
  });

  it('works for a client with a secret, and with no other secret', async () => {
    const confidential = create({ clientId: confidentialClientId, clientSecret: confidentialClientSecret });
    const first = await comeBack(confidential);
    await expect(confidential.finish(first.query, first.kept)).resolves.toMatchObject({ subject: 'ada' });
    const wrong = create({ clientId: confidentialClientId, clientSecret: `${confidentialClientSecret}x` });
    const second = await comeBack(wrong);
    expect(await outcome(wrong.finish(second.query, second.kept))).toBe('unauthenticated');
  });
});

describe('a sign-in that does not fit (S3)', () => {
  it('is refused in a browser that did not begin it', async () => {
    const [mine, theirs] = [await comeBack(), await comeBack(flow, 'mallory')];
    expect(await outcome(flow.finish(theirs.query, mine.kept))).toBe('unauthenticated');
    expect(await outcome(flow.finish(mine.query, undefined))).toBe('unauthenticated');
  });

  it('is refused when a parameter was changed, is missing, or is that of another answer', async () => {
    const { query, kept } = await comeBack();
    const forged = [
      withParameter(query, 'state', 'x'),
      withParameter(query, 'code', 'x'),
      withParameter(query, 'iss', 'https://elsewhere.example.org'),
      withParameter('?', 'state', new URLSearchParams(query).get('state') ?? ''),
      `${query}&state=x`,
      '?error=access_denied',
      '',
    ];
    for (const text of forged) expect([text, await outcome(flow.finish(text, kept))]).toEqual([text, 'unauthenticated']);
  });

  it('is refused the second time: a code is good once', async () => {
    const { query, kept } = await comeBack();
    await flow.finish(query, kept);
    expect(await outcome(flow.finish(query, kept))).toBe('unauthenticated');
  });

  it('is refused when what the browser kept was changed, is of another installation, or is older than ten minutes', async () => {
    const { query, kept } = await comeBack();
    for (let index = 0; index < kept.length; index += 37) {
      const changed = `${kept.slice(0, index)}${kept[index] === 'A' ? 'B' : 'A'}${kept.slice(index + 1)}`;
      expect([index, await outcome(flow.finish(query, changed))]).toEqual([index, 'unauthenticated']);
    }
    expect(await outcome(create({ secret: 'another' }).finish(query, kept))).toBe('unauthenticated');
    for (const text of ['', 'x', `${kept}.x`, 'a'.repeat(100_000)]) expect(await outcome(flow.finish(query, text))).toBe('unauthenticated');
    nowMs += 601_000;
    expect(await outcome(flow.finish(query, kept))).toBe('unauthenticated');
  });
});

describe('a provider that is away (S4)', () => {
  it('can be asked again when it is back', async () => {
    await provider.leave();
    expect(await outcome(flow.begin(consoleRedirectUri))).toBe('unavailable');
    await provider.return();
    const { query, kept } = await comeBack();
    await provider.leave();
    expect(await outcome(flow.finish(query, kept))).toBe('unavailable');
    await provider.return();
    await expect(flow.finish(query, kept)).resolves.toMatchObject({ subject: 'ada' });
    await provider.fail(500);
    expect(await outcome(create().begin(consoleRedirectUri))).toBe('unavailable');
    await provider.fail(null);
  });

  it('is not asked over http that nobody allowed (S5)', async () => {
    expect(await outcome(create({ allowedHosts: 'elsewhere.example.org' }).begin(consoleRedirectUri))).toBe('unavailable');
  });
});
