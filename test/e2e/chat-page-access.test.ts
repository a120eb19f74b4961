/**
 * Accessibility and robustness of the visitor page: keyboards, screen readers, phones, hostile replies, corrupted
 * storage. Also the other public pages: the start page and the documentation.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs, waitFor } from '#libs/product/testing';
import type { Locator, Page } from 'playwright-core';
import { desk, findAccessibilityProblems, phone, screenshots } from './browser.ts';
import {
  alert,
  answerOnce,
  field,
  hold,
  isFocused,
  messages,
  readField,
  readLog,
  say,
  type ChatBrowser,
  startChatBrowser,
  said,
} from './chat-browser.ts';

let chat: ChatBrowser;
beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  chat = await startChatBrowser(import.meta.url);
}, provideTimeoutMs);
afterEach(async () => expect(await chat.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(() => chat.stop());

describe('accessibility of the visitor page', () => {
  it('supports the whole chat by keyboard alone', async () => {
    const page = await chat.openPage();
    chat.llm.answerWith(() => 'Read');
    expect(await isFocused(page, '#message')).toBe(true);
    await page.keyboard.type('one');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    const sent = page.waitForRequest(messages);
    await page.keyboard.press('Enter');
    expect((await sent).postDataJSON()).toEqual({ body: 'one\ntwo' });
    await said(page, 'Read').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor(); // The button is "Stop" until the reply is complete.
    const order: unknown[] = [];
    await page.keyboard.press('Tab');
    for (let step = 0; step < 4; step++) {
      order.unshift(await page.evaluate('document.activeElement.id'));
      if (step < 3) await page.keyboard.press('Shift+Tab');
    }
    expect(order).toEqual(['start-over', 'log', 'message', 'send']);
    await page.keyboard.press('Enter');
    expect(await page.getByRole('dialog', { name: 'Start over?' }).isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await waitFor(() => isFocused(page, '#message'), { what: 'the focus back in the field' });
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('does not send a message while the user composes characters', async () => {
    const page = await chat.openPage();
    const { held } = await hold(page);
    await field(page).fill('にほん');
    await field(page).dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true });
    expect([held.length, await readField(page)]).toEqual([0, 'にほん']);
  });

  it.each(['light', 'dark'] as const)(
    'passes axe before the first message, with messages, with an error and in a dialog (%s)',
    async (colorScheme) => {
      const page = await chat.openPage({ ...desk, colorScheme, reducedMotion: 'reduce' });
      expect(await findAccessibilityProblems(page)).toEqual([]);
      await chat.exchange(page, 'Show `code`, [a link](https://example.org) and\n\n> a quote', 'Plain words');
      await answerOnce(page, 503, { 'retry-after': '30' });
      await say(page, 'Refused');
      await alert(page).waitFor();
      expect(await findAccessibilityProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Start over' }).click();
      expect(await findAccessibilityProblems(page)).toEqual([]);
    },
  );

  it('does not animate when the user prefers reduced motion', async () => {
    for (const [reducedMotion, name] of [
      ['no-preference', 'breathe'],
      ['reduce', 'none'],
    ] as const) {
      const page = await chat.openPage({ ...desk, reducedMotion });
      await hold(page);
      await say(page, 'Wait');
      expect(await page.evaluate(`getComputedStyle(document.querySelector('.typing span')).animationName`)).toBe(name);
    }
  });

  it('fits a phone screen without horizontal scrolling, with a visible message field and large touch targets', async () => {
    const page = await chat.openPage(phone);
    expect(await isFocused(page, '#message')).toBe(false); // With the focus in the field, the on-screen keyboard would cover the page.
    await chat.exchange(
      page,
      `A very ${'long'.repeat(60)} word`,
      `\`\`\`\n${'code '.repeat(80)}\n\`\`\`\nand more words`.repeat(3),
    );
    const seen = (): Promise<unknown> =>
      page.evaluate(`(() => {
        const { bottom, right } = document.querySelector('#send').getBoundingClientRect();
        const { scrollWidth, scrollHeight } = document.documentElement;
        const wide = [...document.querySelectorAll('#log, .words')].filter((item) => item.scrollWidth > item.clientWidth).length;
        return { sideways: scrollWidth > innerWidth, down: scrollHeight > innerHeight, inSight: bottom <= innerHeight && right <= innerWidth, wide };
      })()`);
    const good = { sideways: false, down: false, inSight: true, wide: 0 };
    expect(await seen()).toEqual(good);
    for (const name of ['Send', 'Start over']) {
      const box = await page.getByRole('button', { name }).boundingBox();
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
    }
    expect(
      await page.evaluate(`parseFloat(getComputedStyle(document.querySelector('#message')).fontSize)`),
    ).toBeGreaterThanOrEqual(16);
    await page.setViewportSize({ width: 360, height: 300 }); // visible size above an on-screen keyboard
    await field(page).fill('line\n'.repeat(30));
    expect(await seen()).toEqual(good);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await seen()).toEqual(good);
  });
});

describe('the start page of the platform', () => {
  it.each([desk, { ...phone, viewport: { width: 320, height: 568 } }, { ...desk, colorScheme: 'dark' as const }])(
    'opens a chat by keyboard alone, fits a phone screen, and passes axe',
    async (options) => {
      const page = await chat.openPage(options, '/');
      expect(await findAccessibilityProblems(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe('/api/docs');
      await page.getByLabel('Chat with the agent').focus();
      await page.keyboard.type('welcome-guide');
      await page.keyboard.press('Enter');
      await field(page).waitFor();
      expect(new URL(page.url()).pathname).toBe('/chat/welcome-guide');
    },
  );
});

describe('the pages of the API documents', () => {
  const openDocs = async (path: string, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> => {
    const page = await chat.openPage({ viewport: { width: 1280, height: 900 }, colorScheme }, path);
    await page.getByPlaceholder('Token').waitFor();
    return page;
  };
  /** Scrolls to the element, because the page renders operations only when they scroll into view. */
  const scrollTo = (page: Page, found: Locator): Promise<unknown> => {
    const look = async (): Promise<boolean> => {
      await page.mouse.wheel(0, 700);
      return (await found.count()) > 0;
    };
    return waitFor(look, { intervalMs: 200, what: 'an operation' });
  };

  it.each([
    ['/api/docs', 'light', /^Test Request.*get .api.coherence.conversations\)/],
    ['/api/v1/docs', 'dark', /^Test Request.*get .api.v1.auth.whoami\)/],
  ] as const)(
    '%s describes the API, accepts and sends a token, and passes axe (%s)',
    async (path, colorScheme, name) => {
      const page = await openDocs(path, colorScheme);
      for (const heading of ['Authentication', 'Requests', 'Errors', 'Pagination', 'Retries', 'Limits']) {
        await page.getByRole('heading', { name: heading, exact: true }).first().waitFor();
      }
      expect(await findAccessibilityProblems(page)).toEqual([]);
      await page.getByPlaceholder('Token').fill('of-the-platform');
      await scrollTo(page, page.getByRole('button', { name }));
      // Newly rendered elements are corrected in the next frame.
      await waitFor(async () => (await findAccessibilityProblems(page)).length === 0, {
        what: 'a page without faults',
      });

      await page.getByRole('button', { name }).click();
      const sent = page.waitForRequest((request) => request.headers()['authorization'] !== undefined);
      await page.getByRole('button', { name: /^Send/ }).first().click();
      expect((await sent).headers()['authorization']).toBe('Bearer of-the-platform');
    },
    90_000,
  );
});

describe('robustness of the visitor page', () => {
  it('is not affected by HTML tags that the server never sends', async () => {
    const page = await chat.openPage();
    const agent_html =
      '<b onclick="harm()" style="color:red">bold</b><img src="x" onerror="harm()"><script>harm()</script><a href="javascript:harm()">click</a>' +
      '<iframe src="https://example.org"></iframe><svg onload="harm()"><a href="https://example.org">svg</a></svg><form action="/x"><input></form>' +
      '<a href="/api/docs">relative</a><a href="https://example.org/ok" onclick="harm()">fine</a><u>&lt;i&gt;</u>';
    const turn = {
      visitor_id: 'v',
      thread_key: 'k',
      human_html: '<b>me</b>',
      agent_html,
      created_at: '2026-01-01T00:00:00+00:00',
    };
    await answerOnce(page, 200, {}, JSON.stringify(turn));
    await say(page, 'me');
    await page.locator('.message.agent:not(.typing)').waitFor();
    expect(await page.locator('.message.agent .words').innerHTML()).toBe(
      '<b>bold</b>clickrelative<a href="https://example.org/ok" target="_blank" rel="noopener noreferrer nofollow">fine</a><u>&lt;i&gt;</u>',
    );
    await page.reload();
    expect(await page.locator('.message.agent .words').innerText()).toBe('boldclickrelativefine<i>');
    // The browser also reports policy violations by markup that was never inserted.
    expect(
      chat.complaints
        .splice(0)
        .filter((line) => !line.includes('violates the following Content Security Policy directive')),
    ).toEqual([]);
  });

  it('runs in a browser without storage, and with corrupt stored data', async () => {
    const context = await chat.openContext();
    await context.addInitScript(
      `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };`,
    );
    const page = await context.newPage();
    await page.goto(`${chat.platform.baseUrl}/chat/welcome-guide`);
    await chat.exchange(page, 'Remember me', 'For now');
    const sent = page.waitForRequest(messages);
    await chat.exchange(page, 'Still?', 'Still');
    expect((await sent).postDataJSON()).toEqual({ body: 'Still?', visitor_id: expect.any(String) });
    expect(await readLog(page)).toHaveLength(4);

    const other = await chat.openPage();
    await other.evaluate(
      `localStorage.setItem('coherence-chat:welcome-guide', '{"turns":[1,null,{"human_html":2}],"visitorId":{}}')`,
    );
    await other.reload();
    await chat.exchange(other, 'Hello?', 'Hello!');
    expect(await readLog(other)).toEqual(['You: Hello?', 'Welcome guide: Hello!']);
  });
});

describe('screenshots', () => {
  it.each([
    ['chat-page', desk, 'light'],
    ['chat-page-dark', desk, 'dark'],
    ['chat-page-phone', phone, 'light'],
  ] as const)('saves a screenshot as .data/screenshots/%s.png', async (name, view, colorScheme) => {
    const page = await chat.openPage({ ...view, colorScheme, reducedMotion: 'reduce' });
    await chat.exchange(
      page,
      'Hello! What is an open circle?',
      'An open circle is a conversation that anybody may join.',
    );
    await chat.exchange(
      page,
      'And what happens with *what I say*?',
      'It is **recorded and written down**, and you can read it:\n\n- only what was said in your room\n- only those who were there see it\n\n> Nothing is kept that you ask us to forget.',
    );
    const { held } = await hold(page);
    await say(page, 'That sounds good. How do I take part?');
    await waitFor(() => held.length === 1);
    const picture = await page.screenshot({ path: join(screenshots, `${name}.png`), animations: 'disabled' });
    expect(picture.length).toBeGreaterThan(10_000);
  });
});
