/** A real browser that records external navigation and console errors. */
import { join } from 'node:path';
import { provideChromium } from '#libs/product/testing';
import axe from 'axe-core';
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

export const screenshots = join(import.meta.dirname, '..', '..', '.data', 'screenshots');
export const desk: BrowserContextOptions = { viewport: { width: 1000, height: 760 } };
export const phone: BrowserContextOptions = {
  viewport: { width: 360, height: 640 },
  isMobile: true,
  hasTouch: true,
  deviceScaleFactor: 2,
};

export interface TestBrowser {
  /** Browser errors since the last test. */
  readonly complaints: string[];
  openContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** Closes all pages of a test. @returns external navigations and browser errors */
  endTest(): Promise<{ elsewhere: string[]; complaints: string[] }>;
  stop(): Promise<void>;
}

export async function startBrowser(baseUrl: string): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: await provideChromium(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  const contexts: BrowserContext[] = [];
  const requested: string[] = [];
  const complaints: string[] = [];
  return {
    complaints,
    openContext: async (options = desk) => {
      const context = await browser.newContext({ locale: 'en-GB', ...options });
      contexts.push(context);
      context.setDefaultTimeout(60_000); // same timeout as `waitFor`, for slow machines
      context.on('request', (request) => requested.push(request.url()));
      context.on('weberror', (error) => complaints.push(String(error.error())));
      // The browser logs each rejected request, which is expected. All other messages, such as content security policy
      // violations, are errors.
      context.on('console', (line) => {
        if (['error', 'warning'].includes(line.type()) && !/Failed to load resource/.test(line.text()))
          complaints.push(line.text());
      });
      return context;
    },
    endTest: async () => {
      await Promise.all(contexts.splice(0).map((context) => context.close()));
      const own = new URL(baseUrl).host;
      return {
        elsewhere: requested.splice(0).filter((url) => new URL(url).host !== own),
        complaints: complaints.splice(0),
      };
    },
    stop: () => browser.close(),
  };
}

const everyRule = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** @param runOnly tags or rules of axe; default: all rules that apply to our pages */
export async function findAccessibilityProblems(page: Page, runOnly: readonly string[] = everyRule): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(axe.source);
  return page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], runOnly: ${JSON.stringify(runOnly)} })
       .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ' ' + node.target + ': ' + node.failureSummary)))`,
  );
}

/**
 * Returns axe findings in light and dark mode (in dark only colour-dependent rules). The page must request reduced
 * motion.
 */
export async function findProblemsOfBothSchemes(page: Page): Promise<string[]> {
  const problems = await findAccessibilityProblems(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await findAccessibilityProblems(page, ['color-contrast', 'link-in-text-block']);
  await page.emulateMedia({ colorScheme: 'light' });
  return [...problems, ...dark.map((problem) => `dark: ${problem}`)];
}
