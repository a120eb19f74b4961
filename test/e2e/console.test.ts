/** The console: sign-in, sign-out, layout, keys and audit (P6, S3). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs, waitFor } from '#libs/product/testing';
import { desk } from './browser.ts';
import {
  type ConsoleBrowser,
  findFaults,
  findFaultsOfBothSchemes,
  focusedHeading,
  heading,
  narrow,
  row,
  signIn,
  startConsoleBrowser,
  still,
  tabTo,
} from './console-browser.ts';

let browser: ConsoleBrowser;
beforeAll(async () => {
  browser = await startConsoleBrowser(import.meta.url);
}, provideTimeoutMs);
afterEach(async () => expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(() => browser.stop());

const makeKey = async (name: string): Promise<{ key: { id: string }; token: string }> =>
  (
    await browser.platform.client.createKey(
      { body: { name, scopes: ['ops:read'] } },
      { token: await browser.login('editor') },
    )
  ).body;

describe('console sign-in (S3)', () => {
  it('opens the requested page after the sign-in, explains a failed sign-in, and signs out', async () => {
    const page = await (await browser.openContext()).newPage();
    await page.goto(`${browser.platform.baseUrl}/console/audit?action=login`);
    await waitFor(() => page.evaluate(`document.activeElement?.id === 'email'`), {
      what: 'the focus in the first field',
    });
    await signIn(page, 'root', 'something else');
    await page.getByRole('alert').getByText('Email or password is wrong.').waitFor();
    await signIn(page, 'root');
    await heading(page, 'Audit').waitFor();
    expect(new URL(page.url()).search).toBe('?action=login');
    expect(await page.getByLabel('Action').inputValue()).toBe('login');
    await row(page, 'root-console@example.org').first().waitFor();
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).toBe('[{},{}]');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Email').waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await page.getByLabel('Email').waitFor();
  });

  it('redirects to the sign-in when the session ends, and afterwards back to the same page', async () => {
    await makeKey('Before the end');
    const page = await browser.open('root', '/console/keys');
    await row(page, 'Before the end').getByRole('link').click();
    await heading(page, 'Before the end').waitFor();
    const address = page.url();
    const token = await browser.login('root');
    const { items } = (await browser.platform.client.listSessions({ query: { limit: 200 } }, { token })).body;
    const others = items.filter(({ current }) => !current);
    await Promise.all(
      others.map(({ id }) => browser.platform.client.revokeSession({ path: { session_id: id } }, { token })),
    );

    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('alert').getByText('Your session has ended. Sign in to continue.').waitFor();
    expect(await findFaults(page)).toEqual([]);
    expect(page.url()).toBe(address);
    await signIn(page, 'root');
    await heading(page, 'Before the end').waitFor();
    await page.getByText('in use').waitFor();
  });

  it('displays only a missing-access message to an account without rights', async () => {
    const page = await browser.open('editor', '/console/audit');
    await page.getByRole('alert').getByText('You do not have access').waitFor();
    expect(await page.getByRole('row').count()).toBe(0);
    expect(await findFaults(page)).toEqual([]);
  });

  it('reports an unavailable platform, and continues when it is available', async () => {
    const page = await browser.openWithClock('root', '/console/audit');
    await row(page, 'login').first().waitFor();
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('alert').getByText('This device is offline. The data below may be out of date.').waitFor();
    expect(await page.getByRole('row').count()).toBeGreaterThan(1);
    await page.context().setOffline(false);
    await page.clock.runFor(10_000);
    await page.getByRole('alert').getByText('offline').waitFor({ state: 'hidden' });
  });
});

describe('console page of the audit log (A3)', () => {
  it('filters, pages and refreshes by its URL, and displays its age', async () => {
    const { key } = await makeKey('To be found');
    const page = await browser.openWithClock('viewer', '/console/audit');
    await page.getByLabel('Target').fill(`key:${key.id}`);
    await page.getByRole('button', { name: 'Filter' }).click();
    await row(page, `key:${key.id}`).waitFor();
    expect(new URL(page.url()).searchParams.get('target')).toBe(`key:${key.id}`);
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByText('Copy as command').click();
    expect(await page.locator('.command code').innerText()).toBe(
      `coherence audit list --target key:${key.id} --limit 50 --json`,
    );
    await page.goBack();
    await row(page, 'login').first().waitFor();
    expect(await page.getByLabel('Target').inputValue()).toBe('');

    const time = page.getByRole('row').nth(1).getByRole('time').first();
    expect(await time.innerText()).toMatch(/ago|in 0 sec/);
    expect(await time.getAttribute('datetime')).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(await page.locator('.freshness').innerText()).toMatch(/^As of /);
    const shown = await page.getByRole('row').count();
    await browser.login('operator');
    await page.clock.runFor(10_000);
    await waitFor(async () => (await page.getByRole('row').count()) > shown, { what: 'a row that came by itself' });
  });

  it('stores a time filter in the URL as an instant, and displays it in the time zone of the user', async () => {
    const page = await browser.open('viewer', '/console/audit', { ...desk, timezoneId: 'Asia/Kolkata' });
    await page.getByLabel('From').fill('2026-01-02T05:30');
    await page.getByRole('button', { name: 'Filter' }).click();
    await waitFor(() => Promise.resolve(new URL(page.url()).searchParams.has('from')));
    expect(new URL(page.url()).searchParams.get('from')).toBe('2026-01-02T00:00:00.000Z');
    expect(await page.getByLabel('From').inputValue()).toMatch(/^2026-01-02T05:30/);
  });
});

describe('console pages of keys (K5)', () => {
  it('create a service key, display its token once, rotate and revoke it', async () => {
    const page = await browser.open('editor', '/console/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Nightly <b>export</b>');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/scopes/)
      .waitFor();
    await dialog.getByLabel('conversations:read').check();
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const token = await dialog.getByLabel('Token').inputValue();
    expect(token).toMatch(/^svc_key_[0-9A-Za-z]{20}_[A-Za-z0-9_-]{43}$/);
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(token);
    expect((await browser.platform.call('GET', '/api/v1/auth/whoami', { token })).status).toBe(200);

    await row(page, 'Nightly <b>export</b>').getByRole('link').click();
    await heading(page, 'Nightly <b>export</b>').waitFor();
    await page.getByRole('button', { name: 'Rotate' }).click();
    await dialog.getByLabel('Overlap with the old secret').selectOption('none');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    const next = await dialog.getByLabel('Token').inputValue();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect((await browser.platform.call('GET', '/api/v1/auth/whoami', { token })).status).toBe(401);
    expect((await browser.platform.call('GET', '/api/v1/auth/whoami', { token: next })).status).toBe(200);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('revoked', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(0);
    expect((await browser.platform.call('GET', '/api/v1/auth/whoami', { token: next })).status).toBe(401);
  });
});

describe('accessibility of the console (P6)', () => {
  it('passes axe and fits a width of 320 px on every page and dialog, in light and dark mode', async () => {
    const { key } = await makeKey(`A long name of a key ${'that goes on and on '.repeat(6)}`);
    const page = await browser.open('root', '/console/audit', still);
    await row(page, 'login').first().waitFor();
    await page.getByText('Copy as command').click();
    expect(await findFaultsOfBothSchemes(page)).toEqual([]);
    const nowhere = '/console/keys/1/2';
    for (const path of ['/console/keys', `/console/keys/${key.id}`, '/console/nothing', nowhere]) {
      await page.goto(`${browser.platform.baseUrl}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      if (path.startsWith('/console/keys') && path !== nowhere)
        await page.getByText('A long name of a key').first().waitFor();
      expect(await findFaultsOfBothSchemes(page)).toEqual([]);
    }
    await page.goto(`${browser.platform.baseUrl}/console/keys`);
    await page.getByRole('button', { name: 'Create key' }).click();
    expect(await findFaultsOfBothSchemes(page)).toEqual([]);
  });

  it('supports keyboard-only use of the console', async () => {
    const page = await (await browser.openContext()).newPage();
    await page.goto(`${browser.platform.baseUrl}/console`);
    await page.getByLabel('Email').waitFor();
    await page.keyboard.type('editor-console@example.org');
    await page.keyboard.press('Tab');
    await page.keyboard.type('secret-of-editor-console');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Skip to content');
    await tabTo(page, 'Keys');
    await page.keyboard.press('Enter');
    await focusedHeading(page, 'Keys').waitFor();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
    await tabTo(page, 'Create key');
    await page.keyboard.press('Enter');
    await page.keyboard.type('By keyboard');
    await tabTo(page, 'steps:read');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await page.getByLabel('Token').waitFor();
    await page.keyboard.press('Escape');
    await tabTo(page, 'By keyboard');
    await page.keyboard.press('Enter');
    await heading(page, 'By keyboard').waitFor();
    await tabTo(page, 'Revoke');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Revoke');
    await page.keyboard.press('Enter');
    await page.getByText('revoked', { exact: true }).waitFor();
    await tabTo(page, 'Sign out', 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByLabel('Email').waitFor();
  });

  it('supports touch use of the console', async () => {
    const page = await browser.open('editor', '/console/keys', narrow);
    for (const button of await page.getByRole('button').all()) {
      const box = await button.boundingBox();
      expect([await button.innerText(), Math.min(box?.width ?? 0, box?.height ?? 0) >= 44]).toEqual([
        await button.innerText(),
        true,
      ]);
    }
  });
});
