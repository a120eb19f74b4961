/** The visitor page in a real browser on the real platform; only the language model is simulated. */
import { type LlmServer, startLlm } from '#libs/product/testing';
import type { BrowserContext, BrowserContextOptions, Page, Route } from 'playwright-core';
import { desk, startBrowser } from './browser.ts';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

/** Requests that send a message. */
export const messages = '**/api/chat/*/message/';

export interface ChatBrowser {
  readonly llm: LlmServer;
  readonly platform: TestPlatform;
  /** Browser errors since the last test. */
  readonly complaints: string[];
  openContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  openPage(options?: BrowserContextOptions, path?: string): Promise<Page>;
  /** Sends a message; the model responds with this reply. */
  exchange(page: Page, text: string, reply: string): Promise<void>;
  /** Closes all pages of a test. @returns external navigations and browser errors */
  endTest(): Promise<{ elsewhere: string[]; complaints: string[] }>;
  stop(): Promise<void>;
}

export async function startChatBrowser(fileUrl: string, settings: Record<string, string> = {}): Promise<ChatBrowser> {
  const llm = await startLlm();
  const platform = await startTestPlatform(
    fileUrl,
    { LLM_BASE_URL: llm.baseUrl, LLM_API_KEY: llm.apiKey, LLM_MODEL: 'scripted', LLM_TIMEOUT_MS: '15000', ...settings },
    { services: ['api-gateway', 'directory', 'agents'] },
  );
  await platform.apply({ agents: [{ slug: 'welcome-guide', name: 'Guide', prompt: 'You are the guide.' }] });
  const { openContext, complaints, ...browser } = await startBrowser(platform.baseUrl);

  return {
    llm,
    platform,
    complaints,
    openContext,
    openPage: async (options = desk, path = '/chat/welcome-guide') => {
      const page = await (await openContext(options)).newPage();
      await page.goto(`${platform.baseUrl}${path}`);
      return page;
    },
    exchange: async (page, text, reply) => {
      llm.answerWith(() => reply);
      const replies = page.locator('.message.agent:not(.typing, .writing)');
      const before = await replies.count();
      await say(page, text);
      await replies.nth(before).waitFor();
    },
    endTest: async () => {
      llm.answerWith(undefined);
      return browser.endTest();
    },
    stop: async () => {
      await browser.stop();
      await platform.stop();
      await llm.stop();
    },
  };
}

export const field = (page: Page) => page.getByRole('textbox', { name: 'Your message to Welcome guide' });
export const log = (page: Page) => page.getByRole('log', { name: 'Conversation' });
/** Locates completed messages that contain the text. */
export const said = (page: Page, text: string) => log(page).locator('.message:not(.typing, .writing)').getByText(text);
export const alert = (page: Page) => page.getByRole('alert');
export const isFocused = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate(`document.activeElement?.matches('${selector}')`);
export const readField = (page: Page): Promise<string> => field(page).inputValue();

/** Returns the texts of the log, including speakers. */
export const readLog = async (page: Page): Promise<string[]> =>
  (await page.locator('.message:not(.typing, .writing)').allInnerTexts()).map((text) =>
    text.replaceAll(/\s+/g, ' ').replace(/ \d\d:\d\d$/, ''),
  );

export async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

/** Intercepts message requests until the test continues them. */
export async function hold(page: Page): Promise<{ held: Route[] }> {
  const held: Route[] = [];
  await page.route(messages, (route) => void held.push(route));
  return { held };
}

/**
 * Handles the next message request with `way`. The handler remains registered and passes later requests on, because
 * removing it would race with the next message.
 */
export function divertOnce(page: Page, way: (route: Route) => Promise<void>): Promise<unknown> {
  let isUsed = false;
  return page.route(messages, (route) => {
    if (isUsed) return route.fallback();
    isUsed = true;
    return way(route);
  });
}

/** Answers the next message with this status, without the platform. */
export const answerOnce = (
  page: Page,
  status: number,
  headers: Record<string, string> = {},
  body = '{"detail":"no"}',
): Promise<unknown> =>
  divertOnce(page, (route) => route.fulfill({ status, headers, contentType: 'application/json', body }));
