/** The visitor page in a real browser, on the real platform: only the language model is played. */
import { join } from 'node:path';
import { type LlmServer, provideChromium, startLlm } from '#libs/testing';
import axe from 'axe-core';
import { type BrowserContext, type BrowserContextOptions, chromium, type Page, type Route } from 'playwright-core';
import { startWorld, type World } from './world.ts';

export const screenshots = join(import.meta.dirname, '..', '..', '.data', 'screenshots');
export const desk: BrowserContextOptions = { viewport: { width: 1000, height: 760 } };
export const phone: BrowserContextOptions = { viewport: { width: 360, height: 640 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
/** Requests that send a message. */
export const messages = '**/api/chat/*/message/';

export interface ChatBrowser {
  readonly llm: LlmServer;
  readonly world: World;
  /** What the browser complained of since the last test. */
  readonly complaints: string[];
  openContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  openPage(options?: BrowserContextOptions, path?: string): Promise<Page>;
  /** Sends a message, which the model answers with this. */
  exchange(page: Page, text: string, reply: string): Promise<void>;
  /** Closes all pages of a test. @returns where they went elsewhere, and the complaints */
  endTest(): Promise<{ elsewhere: string[]; complaints: string[] }>;
  stop(): Promise<void>;
}

export async function startChatBrowser(fileUrl: string): Promise<ChatBrowser> {
  const llm = await startLlm();
  const world = await startWorld(
    fileUrl,
    { LLM_BASE_URL: llm.baseUrl, LLM_API_KEY: llm.apiKey, LLM_MODEL: 'scripted', LLM_TIMEOUT_MS: '2000' },
    { services: ['api-gateway', 'directory', 'agents'] },
  );
  await world.apply({ agents: [{ slug: 'welcome-guide', name: 'Guide', prompt: 'You are the guide.' }] });
  const browser = await chromium.launch({ executablePath: await provideChromium(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  const contexts: BrowserContext[] = [];
  const requested: string[] = [];
  const complaints: string[] = [];

  const openContext = async (options: BrowserContextOptions = desk): Promise<BrowserContext> => {
    const context = await browser.newContext({ locale: 'en-GB', ...options });
    contexts.push(context);
    context.setDefaultTimeout(15_000);
    context.on('request', (request) => requested.push(request.url()));
    context.on('weberror', (error) => complaints.push(String(error.error())));
    // A refused request is told by the browser too; everything else, e.g. of the content security policy, is a fault.
    context.on('console', (line) => {
      if (['error', 'warning'].includes(line.type()) && !/Failed to load resource/.test(line.text())) complaints.push(line.text());
    });
    return context;
  };

  return {
    llm,
    world,
    complaints,
    openContext,
    openPage: async (options = desk, path = '/chat/welcome-guide') => {
      const page = await (await openContext(options)).newPage();
      await page.goto(`${world.baseUrl}${path}`);
      return page;
    },
    exchange: async (page, text, reply) => {
      llm.answerWith(() => reply);
      const replies = page.locator('.message.agent:not(.typing)');
      const before = await replies.count();
      await say(page, text);
      await replies.nth(before).waitFor();
    },
    endTest: async () => {
      llm.answerWith(undefined);
      await Promise.all(contexts.splice(0).map((context) => context.close()));
      const own = new URL(world.baseUrl).host;
      return { elsewhere: requested.splice(0).filter((url) => new URL(url).host !== own), complaints: complaints.splice(0) };
    },
    stop: async () => {
      await browser.close();
      await world.stop();
      await llm.stop();
    },
  };
}

export const field = (page: Page) => page.getByRole('textbox', { name: 'Your message to Welcome guide' });
export const log = (page: Page) => page.getByRole('log', { name: 'Conversation' });
export const alert = (page: Page) => page.getByRole('alert');
export const isFocused = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate(`document.activeElement?.matches('${selector}')`);
export const readField = (page: Page): Promise<string> => field(page).inputValue();

/** What stands in the log, speakers included. */
export const readLog = async (page: Page): Promise<string[]> =>
  (await page.locator('.message:not(.typing)').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').replace(/ \d\d:\d\d$/, ''));

export async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

/** Holds what is sent until the test lets it go on. */
export async function hold(page: Page): Promise<{ held: Route[] }> {
  const held: Route[] = [];
  await page.route(messages, (route) => void held.push(route));
  return { held };
}

/** The next message goes this way. The handler stays and lets later ones pass: taking it away would race with the next one's coming. */
export function divertOnce(page: Page, way: (route: Route) => Promise<void>): Promise<unknown> {
  let isUsed = false;
  return page.route(messages, (route) => {
    if (isUsed) return route.fallback();
    isUsed = true;
    return way(route);
  });
}

/** The next message is answered by this, without the platform. */
export const answerOnce = (page: Page, status: number, headers: Record<string, string> = {}, body = '{"detail":"no"}'): Promise<unknown> =>
  divertOnce(page, (route) => route.fulfill({ status, headers, contentType: 'application/json', body }));

export async function findAccessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
       .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ' ' + node.target + ': ' + node.failureSummary)))`,
  );
}
