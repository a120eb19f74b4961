/** Console sign-in through an identity provider, as in a browser (rules/console#session; S3). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { consoleClientId, type IdentityProvider, startIdentityProvider, waitFor } from '#libs/product/testing';
import type { Page } from 'playwright-core';
import { startBrowser } from './browser.ts';
import { type Answer, applyDemo, type Demo, startTestPlatform, type TestPlatform } from './test-platform.ts';

let provider: IdentityProvider;
let platform: TestPlatform;
let demo: Demo;
beforeAll(async () => {
  provider = await startIdentityProvider();
  const settings = {
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: consoleClientId,
    OUTBOUND_ALLOWED_HOSTS: provider.host,
  };
  platform = await startTestPlatform(import.meta.url, settings, { services: ['api-gateway', 'directory'] });
  demo = await applyDemo(platform, 'provider');
  await platform.ask('accounts', 'link', 'ada-provider@example.org', '--subject', 'ada');
});
afterAll(async () => {
  await platform.stop();
  await provider.stop();
});

const get = (path: string, cookie = ''): Promise<Answer> =>
  platform.call('GET', path, { token: null, headers: cookie === '' ? {} : { cookie } });
const cookiesOf = ({ headers }: Answer): string[] => headers.getSetCookie();
const firstPart = (cookie = ''): string => cookie.split(';')[0] ?? '';

/**
 * Signs in at the provider and follows the redirect back; returns the response of the callback and the stored cookies.
 */
async function signIn(subject: string, to = ''): Promise<{ back: Answer; path: string; kept: string }> {
  const { path, kept } = await signInThere(subject, to);
  return { back: await get(path, kept), path, kept };
}

/** Signs in at the provider like `signIn`, but does not call the callback. */
async function signInThere(subject: string, to = ''): Promise<{ path: string; kept: string }> {
  const away = await get(`/console/sign-in${to === '' ? '' : `?${new URLSearchParams({ to }).toString()}`}`);
  expect(away.status).toBe(303);
  const kept = firstPart(cookiesOf(away)[0]);
  const url = new URL(await provider.signIn(away.headers.get('location') ?? '', subject));
  expect(url.origin).toBe(platform.baseUrl);
  return { path: `${url.pathname}${url.search}`, kept };
}
const sessionOf = ({ back }: { back: Answer }): string =>
  firstPart(cookiesOf(back).find((cookie) => cookie.startsWith('coherence_console=')));
const whoami = (session: string): Promise<Answer> => get('/console/api/v1/auth/whoami', session);

/** Returns failed sign-ins by reason from the gateway's metrics. */
async function countFailures(): Promise<(reason: string) => number> {
  const port = /"service":"api-gateway"[^\n]*"metricsPort":(\d+)/.exec(await platform.readLogs())?.[1];
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return (reason) =>
    Number(
      new RegExp(`^coherence_console_sign_ins_failed_total\\{reason="${reason}"[^}]*\\} (\\d+)$`, 'm').exec(text)?.[1],
    );
}

describe('the console with an identity provider (S3)', () => {
  it('reports an unavailable identity provider, and retries', async () => {
    await provider.disconnect();
    const answer = await get('/console/sign-in?to=/console/jobs');
    expect([answer.status, answer.headers.get('location'), cookiesOf(answer)]).toEqual([
      303,
      '/console/jobs?signIn=away',
      [],
    ]);
    await provider.return();
    expect(new URL((await get('/console/sign-in')).headers.get('location') ?? '').origin).toBe(provider.issuer);
  });

  it('redirects the browser to the identity provider with a cookie for the callback only', async () => {
    const { headers } = await get('/console/sign-in');
    const asked = new URL(headers.get('location') ?? '');
    expect([asked.origin, asked.searchParams.get('redirect_uri')]).toEqual([
      provider.issuer,
      `${platform.baseUrl}/console/sign-in/callback`,
    ]);
    expect(asked.searchParams.get('code_challenge_method')).toBe('S256');
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^coherence_sign_in_[0-9a-f]{16}=\d+\|[\w.-]+\|%2Fconsole; Path=\/console\/sign-in; HttpOnly; SameSite=Lax; Max-Age=600$/,
      ),
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('starts the same session as a password sign-in, which ends at the sign-out', async () => {
    const signed = await signIn('ada');
    expect([signed.back.status, signed.back.headers.get('location')]).toEqual([303, '/console']);
    expect(cookiesOf(signed.back)).toEqual([
      `${signed.kept.split('=')[0]}=; Path=/console/sign-in; HttpOnly; SameSite=Lax; Max-Age=0`,
      expect.stringMatching(/^coherence_console=svc_agentic_[\w-]+; Path=\/console; HttpOnly; SameSite=Strict$/),
      expect.stringMatching(/^coherence_sign_out=[\w.-]+; Path=\/console\/sign-out; HttpOnly; SameSite=Strict$/),
    ]);
    const session = sessionOf(signed);
    expect((await whoami(session)).json).toMatchObject({ authenticated: true, person: { id: demo.ada } });
    expect((await get('/api/v1/auth/whoami', session)).status).toBe(401);
    const out = await platform.call('POST', '/console/api/v1/auth/logout', {
      token: null,
      json: {},
      headers: { cookie: session, origin: platform.baseUrl },
    });
    expect([out.status, (await whoami(session)).status]).toEqual([200, 401]);
    const [entry] = await platform.sql<{ action: string; outcome: string; ip: string }>(
      "select action, outcome, ip from directory.audit_log where changes::json ->> 'issuer' is not null and action = 'login'",
    );
    expect(entry).toEqual({ action: 'login', outcome: 'ok', ip: expect.stringMatching(/^(127|::)/) });
  });

  it.each([
    ['/console/jobs?state=failed&q=a+b', '/console/jobs?state=failed&q=a+b'],
    ['https://evil.example.org/console', '/console'],
    ['/console/../api/v1/people', '/console'],
    ['/console/sign-in', '/console'],
  ])('redirects after the sign-in only to a console page: %s', async (to, place) => {
    expect((await signIn('ada', to)).back.headers.get('location')).toBe(place);
    const refused = await signIn('mallory', to);
    expect(refused.back.headers.get('location')).toBe(`${place}${place.includes('?') ? '&' : '?'}signIn=refused`);
    // A site of the same parent domain can set cookies, so the cookie must not be trusted.
    const { path, kept } = await signInThere('ada');
    const forged = `${kept.split('|').slice(0, 2).join('|')}|${encodeURIComponent(to)}`;
    expect((await get(path, forged)).headers.get('location')).toBe(place);
  });

  it('writes an audit entry for a rejected sign-in, and counts it as a failed login (A1, A4)', async () => {
    const email = 'ada-provider@example.org';
    const count = async (): Promise<number> =>
      (
        await platform.sql<{ count: number }>(
          "select count(*)::integer as count from directory.audit_log where action = 'login' and outcome = 'refused'",
        )
      )[0]?.count ?? 0;
    const before = await count();
    await signIn('mallory');
    await platform.ask('accounts', 'deactivate', email);
    await signIn('ada');
    await platform.ask('accounts', 'grant', email, '--activate');
    const entries = await platform.sql(
      "select account_id, changes, ip from directory.audit_log where action = 'login' and outcome = 'refused' order by id desc limit 2",
    );
    const [of] = await platform.sql<{ id: number }>('select id from directory.accounts where email = $1', [email]);
    expect(entries).toEqual([
      { account_id: of?.id, changes: '{"reason":"identity"}', ip: expect.stringMatching(/^(127|::)/) },
      { account_id: null, changes: '{"reason":"identity"}', ip: expect.stringMatching(/^(127|::)/) },
    ]);
    expect(await count()).toBe(before + 2);
    // The callback can be called directly, without a sign-in at the provider; such calls are not counted.
    await get('/console/sign-in/callback?error=access_denied', (await signInThere('ada')).kept);
    await get('/console/sign-in/callback?code=x&state=y', '');
    expect(await count()).toBe(before + 2);
  });

  it('rejects unknown subjects, and browsers that did not start the sign-in', async () => {
    const stranger = await signIn('mallory');
    expect([stranger.back.status, stranger.back.headers.get('location'), sessionOf(stranger)]).toEqual([
      303,
      '/console?signIn=refused',
      '',
    ]);
    const { path } = await signIn('ada');
    for (const cookie of ['', 'coherence_sign_in=x', stranger.kept]) {
      const { headers } = await get(path, cookie);
      expect([headers.get('location'), headers.getSetCookie()]).toEqual(['/console?signIn=refused', []]);
    }
    const cancelled = await get('/console/sign-in/callback?error=access_denied', stranger.kept);
    expect(cancelled.headers.get('location')).toBe('/console?signIn=refused');
  });

  it('signs in with up to five tabs at once (D105)', async () => {
    const tabs: { path: string; kept: string }[] = [];
    const jar = (): string => tabs.map(({ kept }) => kept).join('; ');
    for (const page of ['jobs', 'keys', 'audit', 'people', 'holons'])
      tabs.push(await signInThere('ada', `/console/${page}`));
    const [sixth, given = ''] = cookiesOf(await get('/console/sign-in', jar()));
    expect([firstPart(sixth), given]).toEqual([
      expect.stringMatching(/^coherence_sign_in_/),
      expect.stringMatching(/^coherence_sign_in_[0-9a-f]{16}=; .*Max-Age=0$/),
    ]);
    const [jobs, keys] = tabs;
    const first = await get(jobs?.path ?? '', jar());
    expect([
      first.headers.get('location'),
      cookiesOf(first).filter((cookie) => cookie.startsWith('coherence_sign_in_')),
    ]).toEqual(['/console/jobs', [expect.stringContaining(`${jobs?.kept.split('=')[0]}=; `)]]);
    tabs.shift();
    const second = await get(keys?.path ?? '', jar());
    expect(second.headers.get('location')).toBe('/console/keys');
    // Repeats the callback in a browser that already has a session.
    const session = sessionOf({ back: second });
    expect((await get(jobs?.path ?? '', session)).headers.get('location')).toBe('/console');
    expect((await get(jobs?.path ?? '', 'coherence_console=x')).headers.get('location')).toBe(
      '/console?signIn=refused',
    );
  });

  it('reports different causes of a failed sign-in on the page, in the log and in a metric (D105)', async () => {
    const before = await countFailures();
    const failed = async (answer: Parameters<IdentityProvider['answer']>[1]): Promise<string | null> => {
      const { path, kept } = await signInThere('ada');
      await provider.answer('/token', answer);
      const back = await get(path, kept);
      await provider.answer('/token', null);
      return back.headers.get('location');
    };
    expect(await failed({ status: 401, body: '{"error":"invalid_client"}' })).toBe('/console?signIn=misconfigured');
    expect(await failed({ status: 503, body: '' })).toBe('/console?signIn=away');
    expect(await failed({ status: 400, body: '{"error":"invalid_grant"}' })).toBe('/console?signIn=refused');
    const log = await platform.readLogs();
    for (const detail of ['invalid_client', 'status_503', 'invalid_grant', 'no_account', 'state'])
      expect(log).toContain(`"detail":"${detail}"`);
    const after = await countFailures();
    for (const reason of ['misconfigured', 'away', 'refused'])
      expect([reason, after(reason) - before(reason)]).toEqual([reason, 1]);
  });

  it('redirects to the logout of the identity provider, from the sign-out page of the console only (D105)', async () => {
    const signed = await signIn('ada');
    const kept = firstPart(cookiesOf(signed.back).find((cookie) => cookie.startsWith('coherence_sign_out=')));
    const leave = (headers: Record<string, string>) =>
      platform.call('GET', '/console/sign-out', { token: null, headers: { cookie: kept, ...headers } });
    const away = new URL((await leave({ 'sec-fetch-site': 'same-origin' })).headers.get('location') ?? '');
    expect([away.origin, away.pathname, away.searchParams.get('post_logout_redirect_uri')]).toEqual([
      provider.issuer,
      '/session/end',
      `${platform.baseUrl}/console`,
    ]);
    expect(away.searchParams.has('id_token_hint')).toBe(true);
    expect((await leave({ 'sec-fetch-site': 'cross-site' })).headers.get('location')).toBe('/console');
  });

  it('requires credentials at the next sign-in after a sign-out that could not reach the identity provider (D105)', async () => {
    const again = 'coherence_ask_again=1';
    const asked = await get('/console/sign-in', again);
    expect(new URL(asked.headers.get('location') ?? '').searchParams.get('prompt')).toBe('login');
    expect(new URL((await get('/console/sign-in')).headers.get('location') ?? '').searchParams.has('prompt')).toBe(
      false,
    );
    const { path, kept } = await signInThere('ada');
    const cleared = 'coherence_ask_again=; Path=/console/sign-in; HttpOnly; SameSite=Lax; Max-Age=0';
    expect(cookiesOf(await get(path, `${kept}; ${again}`))).toContain(cleared);
    expect(cookiesOf((await signIn('ada')).back)).not.toContain(cleared);
  });

  it('rejects passwords, and explains this on the sign-in page', async () => {
    const json = { email: 'ada-provider@example.org', password: 'secret-of-ada-provider' };
    const answer = await platform.call('POST', '/console/session', {
      token: null,
      json,
      headers: { origin: platform.baseUrl },
    });
    expect(answer.status).toBe(404);
    expect((await get('/console')).text).toContain('data-sign-in="provider"');
  });

  it('rejects bearer tokens of the identity provider when no audience is configured', async () => {
    expect(
      (await platform.call('GET', '/api/v1/auth/whoami', { token: await provider.sign({ sub: 'ada' }) })).status,
    ).toBe(401);
  });

  it('ends the sessions of an account when its identity is unlinked', async () => {
    const session = sessionOf(await signIn('ada'));
    expect((await whoami(session)).status).toBe(200);
    await platform.ask('accounts', 'unlink', 'ada-provider@example.org', '--subject', 'ada');
    await waitFor(async () => (await whoami(session)).status === 401);
    await platform.ask('accounts', 'link', 'ada-provider@example.org', '--subject', 'ada');
  });

  it('reports an identity provider that is unavailable during the callback, and signs in when it is available again', async () => {
    const { path, kept } = await signInThere('ada', '/console/jobs');
    await provider.disconnect();
    const back = await get(path, kept);
    expect([back.status, back.headers.get('location')]).toEqual([303, '/console/jobs?signIn=away']);
    await provider.return();
    expect((await signIn('ada')).back.headers.get('location')).toBe('/console');
  });
});

describe('console sign-in in a browser (S3, P6)', () => {
  it('redirects to the identity provider and back to the requested page, and reports a rejected sign-in on that page', async () => {
    const browser = await startBrowser(platform.baseUrl);
    try {
      const place = '/console/keys?offset=50';
      const enter = async (page: Page, subject: string): Promise<void> => {
        await page.getByRole('link', { name: 'Sign in' }).click();
        await page.locator('input[name=login]').fill(subject);
        await page.locator('input[name=password]').fill('x');
        await page.getByRole('button', { name: 'Sign-in' }).click();
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.waitForURL(`${platform.baseUrl}/**`);
      };
      const stranger = await (await browser.openContext()).newPage();
      await stranger.goto(`${platform.baseUrl}${place}`);
      await enter(stranger, 'mallory');
      await stranger.getByRole('alert').filter({ hasText: 'Sign-in failed' }).waitFor();
      expect(stranger.url()).toBe(`${platform.baseUrl}${place}&signIn=refused`);

      const page = await (await browser.openContext()).newPage();
      await page.goto(`${platform.baseUrl}${place}`);
      await enter(page, 'ada');
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      expect(page.url()).toBe(`${platform.baseUrl}${place}`);
      await page.reload();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL(`${provider.issuer}/**`);
      await page.getByRole('button', { name: 'Yes' }).click();
      await page.getByRole('link', { name: 'Sign in' }).waitFor();
      expect(page.url()).toMatch(new RegExp(`^${platform.baseUrl}/console`));
      expect(await page.context().cookies()).toEqual(
        expect.not.arrayContaining([expect.objectContaining({ name: expect.stringMatching('coherence') })]),
      );
    } finally {
      await browser.endTest();
      await browser.stop();
    }
  });
});
