/** The page that sets the password of an invited account, in a real browser (W7, W19). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { provideTimeoutMs, waitFor } from '#libs/product/testing';
import {
  type ConsoleBrowser,
  findFaults,
  findFaultsOfBothSchemes,
  focusedHeading,
  heading,
  narrow,
  startConsoleBrowser,
  still,
  tabTo,
} from './console-browser.ts';

let browser: ConsoleBrowser;
let token: string;
beforeAll(async () => {
  browser = await startConsoleBrowser(import.meta.url, {}, ['api-gateway', 'directory']);
  token = await browser.login('root');
}, provideTimeoutMs);
afterEach(async () => expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(() => browser.stop());

let count = 0;
async function invite(): Promise<{ email: string; url: string }> {
  const email = `guest-${++count}@example.org`;
  const [person] = await browser.platform.sql(`insert into directory.people (name) values ('Guest') returning id`);
  const { body } = await browser.platform.client.createAccount(
    { body: { email, person_id: Number(person?.['id']) } },
    { token },
  );
  return { email, url: body.invitation.url };
}
async function open(url: string, options?: BrowserContextOptions): Promise<Page> {
  const page = await (await browser.openContext(options)).newPage();
  await page.goto(url);
  return page;
}

describe('/console/invitation (W19)', () => {
  it('sets the password by keyboard alone, and continues with the sign-in', async () => {
    const { email, url } = await invite();
    const page = await open(url);
    await waitFor(() => page.evaluate(`document.activeElement?.id === 'password'`), { what: 'the focus in the field' });
    await page.keyboard.type('short');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('must have at least 12 characters').waitFor();
    await page.getByLabel('Password').fill('nine yellow umbrellas');
    await tabTo(page, 'Show characters');
    await page.keyboard.press('Space');
    expect(await page.getByLabel('Password').getAttribute('type')).toBe('text');
    await tabTo(page, 'Set password');
    await page.keyboard.press('Enter');
    await focusedHeading(page, 'Password set').waitFor();
    await page.getByText(`You can now sign in as ${email}.`).waitFor();
    expect(page.url()).not.toContain('svc_invite');
    await tabTo(page, 'Sign in');
    await page.keyboard.press('Enter');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill('nine yellow umbrellas');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  it('explains a used and an incomplete link', async () => {
    const { url } = await invite();
    const page = await open(url, narrow);
    await page.getByLabel('Password').fill('nine yellow umbrellas');
    await page.getByRole('button', { name: 'Set password' }).tap();
    await heading(page, 'Password set').waitFor();
    const late = await open(url);
    await late.getByLabel('Password').fill('ten orange umbrellas');
    await late.getByRole('button', { name: 'Set password' }).click();
    await focusedHeading(late, 'Invitation ended').waitFor();
    await late.getByRole('alert').getByText('Ask an administrator').waitFor();
    const incomplete = await open(url.replace(/#.*/, ''));
    await heading(incomplete, 'Invitation ended').waitFor();
    expect(await incomplete.getByLabel('Password').count()).toBe(0);
  });

  it('reads another link that is opened in the same tab', async () => {
    const [first, second] = [await invite(), await invite()];
    const page = await open(first.url.replace(/#.*/, '#x'));
    await page.getByLabel('Password').fill('nine yellow umbrellas');
    await page.getByRole('button', { name: 'Set password' }).click();
    await heading(page, 'Invitation ended').waitFor();
    await page.goto(second.url);
    await heading(page, 'Set your password').waitFor();
    expect(await page.getByLabel('Password').inputValue()).toBe('');
  });

  it('has no accessibility problems in light and dark mode, and fits a phone of 320 px', async () => {
    const { url } = await invite();
    const page = await open(url, still);
    await heading(page, 'Set your password').waitFor();
    expect(await findFaultsOfBothSchemes(page)).toEqual([]);
    await page.getByLabel('Password').fill('nine yellow umbrellas');
    await page.getByRole('button', { name: 'Set password' }).click();
    await heading(page, 'Password set').waitFor();
    expect(await findFaults(page)).toEqual([]);
    const ended = await open(url, still);
    await ended.getByLabel('Password').fill('nine yellow umbrellas');
    await ended.getByRole('button', { name: 'Set password' }).click();
    await heading(ended, 'Invitation ended').waitFor();
    expect(await findFaults(ended)).toEqual([]);
  });
});
