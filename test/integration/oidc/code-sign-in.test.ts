/**
 * A browser signs in with the code flow at a certified provider, and attackers try to impersonate the user
 * (rules/console#session; S3).
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type CodeSignIn, createCodeSignIn, createProvider, createSigningKeys } from '#libs/infrastructure/oidc';
import { createOutbound, type Outbound } from '#libs/infrastructure/outbound';
import {
  confidentialClientId,
  confidentialClientSecret,
  consoleClientId,
  consoleRedirectUri,
  type IdentityProvider,
  startIdentityProvider,
} from '#libs/product/testing';

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

function create(
  changed: { clientId?: string; clientSecret?: string; secret?: string; allowedHosts?: string } = {},
): CodeSignIn {
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

/** Starts the flow, signs in and returns: the query of the callback and the browser's cookies. */
async function comeBack(by = flow, subject = 'ada'): Promise<{ query: string; kept: string }> {
  const { url, stored: kept } = await by.begin(consoleRedirectUri);
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
  it('requests a code with PKCE, state and nonce, and hides the stored values in the URL and the browser state', async () => {
    const { url, stored: kept } = await flow.begin(consoleRedirectUri);
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

  it('returns the signed-in user in any replica', async () => {
    const { query, kept } = await comeBack();
    await expect(create().finish(query, kept)).resolves.toMatchObject({
      identity: { issuer: provider.issuer, subject: 'ada', verifiedEmail: 'ada@example.org' },
    });
  });

  it('accepts a confidential client only with its secret', async () => {
    const confidential = create({ clientId: confidentialClientId, clientSecret: confidentialClientSecret });
    const first = await comeBack(confidential);
    await expect(confidential.finish(first.query, first.kept)).resolves.toMatchObject({ identity: { subject: 'ada' } });
    const wrong = create({ clientId: confidentialClientId, clientSecret: `${confidentialClientSecret}x` });
    const second = await comeBack(wrong);
    expect(await outcome(wrong.finish(second.query, second.kept))).toBe('unauthenticated');
  });
});

describe('an invalid sign-in (S3)', () => {
  it('rejects a sign-in that another browser started', async () => {
    const [mine, theirs] = [await comeBack(), await comeBack(flow, 'mallory')];
    expect(await outcome(flow.finish(theirs.query, mine.kept))).toBe('unauthenticated');
    expect(await outcome(flow.finish(mine.query, undefined))).toBe('unauthenticated');
  });

  it('rejects a sign-in with a changed, repeated or missing parameter', async () => {
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
    for (const text of forged)
      expect([text, await outcome(flow.finish(text, kept))]).toEqual([text, 'unauthenticated']);
  });

  it('rejects a second use of a code', async () => {
    const { query, kept } = await comeBack();
    await flow.finish(query, kept);
    expect(await outcome(flow.finish(query, kept))).toBe('unauthenticated');
  });

  it('rejects a sign-in whose browser state was changed, belongs to another installation, or is older than ten minutes', async () => {
    const { query, kept } = await comeBack();
    for (let index = 0; index < kept.length; index += 37) {
      const changed = `${kept.slice(0, index)}${kept[index] === 'A' ? 'B' : 'A'}${kept.slice(index + 1)}`;
      expect([index, await outcome(flow.finish(query, changed))]).toEqual([index, 'unauthenticated']);
    }
    expect(await outcome(create({ secret: 'another' }).finish(query, kept))).toBe('unauthenticated');
    for (const text of ['', 'x', `${kept}.x`, 'a'.repeat(100_000)])
      expect(await outcome(flow.finish(query, text))).toBe('unauthenticated');
    nowMs += 601_000;
    expect(await outcome(flow.finish(query, kept))).toBe('unauthenticated');
  });
});

describe('an unavailable provider (S4)', () => {
  it('allows another attempt of a sign-in after an outage of the provider', async () => {
    await provider.disconnect();
    expect(await outcome(flow.begin(consoleRedirectUri))).toBe('unavailable');
    await provider.return();
    const { query, kept } = await comeBack();
    await provider.disconnect();
    expect(await outcome(flow.finish(query, kept))).toBe('unavailable');
    await provider.return();
    await expect(flow.finish(query, kept)).resolves.toMatchObject({ identity: { subject: 'ada' } });
    await provider.fail(500);
    expect(await outcome(create().begin(consoleRedirectUri))).toBe('unavailable');
    await provider.fail(null);
  });

  it('does not send requests to the provider over http unless allowed (S5)', async () => {
    expect(await outcome(create({ allowedHosts: 'elsewhere.example.org' }).begin(consoleRedirectUri))).toBe(
      'unavailable',
    );
  });
});

describe('the email of a signed-in user (D105)', () => {
  const finish = async (by = flow) => {
    const { query, kept } = await comeBack(by);
    await provider.countRequests();
    return by.finish(query, kept);
  };
  const userinfo = '/me';
  afterEach(async () => {
    await provider.answer(userinfo, null);
    await provider.keepEmailFromIdTokens(false);
  });

  it('requests the email once if it is missing in the ID token, and otherwise not at all', async () => {
    await finish();
    expect((await provider.countRequests())[userinfo]).toBeUndefined();
    await provider.keepEmailFromIdTokens(true);
    expect((await finish(create())).identity).toMatchObject({ subject: 'ada', verifiedEmail: 'ada@example.org' });
    expect((await provider.countRequests())[userinfo]).toBe(1);
  });

  it('accepts only a verified email of the same subject', async () => {
    await provider.keepEmailFromIdTokens(true);
    const tell = (claims: object) => provider.answer(userinfo, { status: 200, body: JSON.stringify(claims) });
    await tell({ sub: 'mallory', email: 'ada@example.org', email_verified: true });
    await expect(finish(create())).rejects.toMatchObject({ failure: 'refused', detail: 'sub' });
    await tell({ sub: 'ada', email: 'ada@example.org', email_verified: 'true' });
    expect((await finish(create())).identity.verifiedEmail).toBeUndefined();
  });

  it('completes the sign-in when the email cannot be read', async () => {
    await provider.keepEmailFromIdTokens(true);
    await provider.answer(userinfo, { status: 503, body: '' });
    await expect(finish(create())).resolves.toMatchObject({
      identity: { subject: 'ada' },
      withoutEmail: { failure: 'away', detail: 'status_503' },
    });
  });
});

describe('reasons of a failed sign-in (D105)', () => {
  const token = '/token';
  const configuration = '/.well-known/openid-configuration';
  const oauth = (status: number, error: string) => ({
    status,
    body: JSON.stringify({ error, error_description: 'a text of theirs' }),
  });
  afterEach(async () => {
    for (const path of [token, configuration]) await provider.answer(path, null);
  });

  it.each([
    [oauth(401, 'invalid_client'), 'misconfigured', 'invalid_client'],
    [oauth(400, 'unauthorized_client'), 'misconfigured', 'unauthorized_client'],
    [oauth(400, 'invalid_request'), 'misconfigured', 'invalid_request'],
    [oauth(400, 'invalid_grant'), 'refused', 'invalid_grant'],
    [oauth(400, 'temporarily_unavailable'), 'away', 'temporarily_unavailable'],
    [oauth(400, 'server_error'), 'away', 'server_error'],
    [oauth(400, 'Forged\nline'), 'refused', 'unknown'],
    [oauth(429, 'slow'), 'away', 'status_429'],
    [{ status: 500, body: '' }, 'away', 'status_500'],
    [{ status: 502, body: '<html>', type: 'text/html' }, 'away', 'status_502'],
    [{ status: 200, body: '<html>', type: 'text/html' }, 'away', 'no_json'],
    [{ status: 403, body: '<html>', type: 'text/html' }, 'away', 'status_403'],
    [{ status: 200, body: '{"access' }, 'away', 'no_json'],
  ])('reports the reason for a token response of %j: %s', async (answer, failure, detail) => {
    const { query, kept } = await comeBack();
    await provider.answer(token, answer);
    await expect(flow.finish(query, kept)).rejects.toMatchObject({ failure, detail });
  });

  it.each([
    ['access_denied', 'refused'],
    ['temporarily_unavailable', 'away'],
    ['server_error', 'away'],
    ['invalid_scope', 'misconfigured'],
    ['unauthorized_client', 'misconfigured'],
  ])('reports the reason for a callback with the error %s: %s', async (error, failure) => {
    const { query, kept } = await comeBack();
    const state = new URLSearchParams(query).get('state') ?? '';
    const back = new URLSearchParams({ error, state, iss: provider.issuer });
    await expect(flow.finish(`?${back.toString()}`, kept)).rejects.toMatchObject({ failure, detail: error });
  });

  it.each([
    [{ status: 500, body: '' }, 'away', 'status_500'],
    [{ status: 200, body: 'soon' }, 'away', 'no_json'],
    [{ status: 404, body: '' }, 'misconfigured', 'status_404'],
    [{ status: 200, body: '{"issuer":"https://elsewhere.example.org"}' }, 'misconfigured', 'issuer'],
  ])('reports the reason for a discovery response of %j: %s', async (answer, failure, detail) => {
    await provider.answer(configuration, answer);
    await expect(create().begin(consoleRedirectUri)).rejects.toMatchObject({ failure, detail, code: 'unavailable' });
  });

  it('reports a callback in a browser that did not start the sign-in', async () => {
    await expect(flow.finish((await comeBack()).query, undefined)).rejects.toMatchObject({
      failure: 'refused',
      detail: 'state',
    });
  });
});

describe('the end of the session at the provider (D105)', () => {
  const returnUri = consoleRedirectUri.replace('/sign-in/callback', '');

  it('redirects a logout to end_session_endpoint with an id_token_hint', async () => {
    const { query, kept } = await comeBack();
    const { retainedForEnd: keptForEnd } = await flow.finish(query, kept);
    const url = new URL((await create().endSession(returnUri, keptForEnd)) ?? '');
    expect(`${url.origin}${url.pathname}`).toBe(`${provider.issuer}/session/end`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: consoleClientId,
      post_logout_redirect_uri: returnUri,
      id_token_hint: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    });
    expect(new URL((await flow.endSession(returnUri, 'forged')) ?? '').searchParams.has('id_token_hint')).toBe(false);
  });

  it('does not redirect a logout without end_session_endpoint, and can require credentials at the next sign-in', async () => {
    const path = '/.well-known/openid-configuration';
    const { end_session_endpoint: _end, ...rest } = (await (await fetch(`${provider.issuer}${path}`)).json()) as Record<
      string,
      unknown
    >;
    await provider.answer(path, { status: 200, body: JSON.stringify(rest) });
    const without = create();
    expect(await without.endSession(returnUri, undefined)).toBeUndefined();
    const { url } = await without.begin(consoleRedirectUri, true);
    expect(new URL(url).searchParams.get('prompt')).toBe('login');
    await provider.answer(path, null);
  });
});
