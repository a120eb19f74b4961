/** The console in a real browser on the real platform: sign-in, and checks for every page. */
import { provideChromium } from '#libs/product/testing';
import type { BrowserContextOptions, Page } from 'playwright-core';
import {
  desk,
  findAccessibilityProblems,
  findProblemsOfBothSchemes,
  startBrowser,
  type TestBrowser,
} from './browser.ts';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

export const still: BrowserContextOptions = { ...desk, reducedMotion: 'reduce' };
export const narrow: BrowserContextOptions = { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true };

const accounts = {
  root: { superuser: true },
  viewer: { groups: ['ops_viewers'] },
  operator: { groups: ['ops_operators'] },
  editor: {},
};
export type Who = keyof typeof accounts;
const emailOf = (who: Who): string => `${who}-console@example.org`;
const passwordOf = (who: Who): string => `secret-of-${who}-console`;

export interface ConsoleBrowser extends Pick<TestBrowser, 'complaints' | 'endTest' | 'openContext'> {
  readonly platform: TestPlatform;
  /** Opens this console address in a page of a signed-in user. */
  open(who: Who, path: string, options?: BrowserContextOptions): Promise<Page>;
  /** Like `open`, with a clock that the test advances: `page.clock.runFor`. */
  openWithClock(who: Who, path: string): Promise<Page>;
  /** Returns a token of the same account for test setup. */
  login(who: Who): Promise<string>;
  stop(): Promise<void>;
}

export async function startConsoleBrowser(
  fileUrl: string,
  settings: Record<string, string> = {},
  services?: readonly string[],
): Promise<ConsoleBrowser> {
  await provideChromium();
  const platform = await startTestPlatform(fileUrl, settings, services === undefined ? {} : { services });
  const names = Object.keys(accounts) as Who[];
  await platform.apply({
    people: names.map((who) => ({ key: who, name: `${who.charAt(0).toUpperCase()}${who.slice(1)} of the console` })),
    accounts: names.map((who) => ({ email: emailOf(who), person: who, password: passwordOf(who), ...accounts[who] })),
  });
  const browser = await startBrowser(platform.baseUrl);
  async function open(who: Who, path: string, options: BrowserContextOptions = desk): Promise<Page> {
    const page = await (await browser.openContext(options)).newPage();
    await page.goto(`${platform.baseUrl}${path}`);
    await signIn(page, who);
    return page;
  }
  return {
    platform,
    complaints: browser.complaints,
    openContext: browser.openContext,
    endTest: browser.endTest,
    open,
    openWithClock: async (who, path) => {
      const page = await open(who, '/console/nothing');
      await page.clock.install();
      await page.goto(`${platform.baseUrl}${path}`);
      return page;
    },
    login: (who) => platform.login(emailOf(who), passwordOf(who)),
    stop: async () => {
      await browser.stop();
      await platform.stop();
    },
  };
}

/** Fills in the sign-in form; resolves when the next page is displayed. */
export async function signIn(page: Page, who: Who, password = passwordOf(who)): Promise<void> {
  await page.getByLabel('Email').fill(emailOf(who));
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  if (password === passwordOf(who)) await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });
/**
 * Like `heading`, but matches only while the heading has the focus, as on a page opened by keyboard. The browser sets
 * the focus shortly after rendering.
 */
export const focusedHeading = (page: Page, name: string | RegExp) => heading(page, name).and(page.locator(':focus'));
export const row = (page: Page, text: string | RegExp) => page.getByRole('row').filter({ hasText: text });

/**
 * Returns faults that are not allowed on any page: axe findings on desktop or phone, and horizontal scrolling on the
 * smallest phone.
 */
export const findFaults = (page: Page): Promise<string[]> => findOnDeskAndPhone(page, findAccessibilityProblems);
/** Like `findFaults`, in light and dark mode; for a page that requests reduced motion (`still`). */
export const findFaultsOfBothSchemes = (page: Page): Promise<string[]> =>
  findOnDeskAndPhone(page, findProblemsOfBothSchemes);

async function findOnDeskAndPhone(page: Page, findProblems: (page: Page) => Promise<string[]>): Promise<string[]> {
  const size = page.viewportSize();
  const faults = await findProblems(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await page.evaluate(`document.querySelectorAll('.narrowing').forEach((filters) => { filters.open = true; })`);
  // Elements that follow the width update in the next frames.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  const wide: string[] = await page.evaluate(`[document.documentElement, ...document.querySelectorAll('body *')]
    .filter((item) => !item.closest('thead, dialog:not([open])') && getComputedStyle(item).position !== 'absolute')
    .filter((item) => item.getBoundingClientRect().right > 321 || (item === document.documentElement && item.scrollWidth > 320))
    .map((item) => 'wide: ' + item.outerHTML.slice(0, 120))`);
  faults.push(...wide, ...(await findProblems(page)));
  if (size !== null) await page.setViewportSize(size);
  return faults;
}

/** Presses Tab until the element with this text or label has the focus. */
export async function tabTo(page: Page, name: string | RegExp, key = 'Tab'): Promise<void> {
  const seen: string[] = [];
  for (let count = 0; count < 80; count++) {
    await page.keyboard.press(key);
    const label = String(
      await page.evaluate(`(() => { const item = document.activeElement;
        return item?.labels?.[0]?.innerText ?? item?.getAttribute('aria-label') ?? item?.innerText ?? ''; })()`),
    ).trim();
    if (typeof name === 'string' ? label === name : name.test(label)) return;
    seen.push(label);
  }
  throw new Error(`the keyboard does not reach ${String(name)}; it was at ${seen.join(' | ')}`);
}
