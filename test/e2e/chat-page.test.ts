/** The visitor page in a real browser, on the real platform: only the language model is played. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type LlmServer, provideChromium, provideTimeoutMs, startLlm, waitFor } from '#libs/testing';
import axe from 'axe-core';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page, type Route } from 'playwright-core';
import { startWorld, type World } from './world.ts';

const screenshots = join(import.meta.dirname, '..', '..', '.data', 'screenshots');
const desk: BrowserContextOptions = { viewport: { width: 1000, height: 760 } };
const phone: BrowserContextOptions = { viewport: { width: 360, height: 640 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const messages = '**/api/chat/*/message/';

let llm: LlmServer;
let world: World;
let browser: Browser;
const contexts: BrowserContext[] = [];
/** Of all pages of a test: where they went, and what the browser complained of. */
const requested: string[] = [];
const complaints: string[] = [];

beforeAll(async () => {
  mkdirSync(screenshots, { recursive: true });
  llm = await startLlm();
  world = await startWorld(
    import.meta.url,
    { LLM_BASE_URL: llm.baseUrl, LLM_API_KEY: llm.apiKey, LLM_MODEL: 'scripted', LLM_TIMEOUT_MS: '2000' },
    { services: ['api-gateway', 'directory', 'agents'] },
  );
  await world.apply({ agents: [{ slug: 'welcome-guide', name: 'Guide', prompt: 'You are the guide.' }] });
  browser = await chromium.launch({ executablePath: await provideChromium(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}, provideTimeoutMs);
afterEach(async () => {
  llm.answerWith(undefined);
  await Promise.all(contexts.splice(0).map((context) => context.close()));
  const own = new URL(world.baseUrl).host;
  const seen = { elsewhere: requested.splice(0).filter((url) => new URL(url).host !== own), complaints: complaints.splice(0) };
  expect(seen).toEqual({ elsewhere: [], complaints: [] });
});
afterAll(async () => {
  await browser?.close();
  await world?.stop();
  await llm?.stop();
});

async function openContext(options: BrowserContextOptions = desk): Promise<BrowserContext> {
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
}

async function openPage(options: BrowserContextOptions = desk, path = '/chat/welcome-guide'): Promise<Page> {
  const page = await (await openContext(options)).newPage();
  await page.goto(`${world.baseUrl}${path}`);
  return page;
}

const field = (page: Page) => page.getByRole('textbox', { name: 'Your message to Welcome guide' });
const log = (page: Page) => page.getByRole('log', { name: 'Conversation' });
const alert = (page: Page) => page.getByRole('alert');
const isFocused = (page: Page, selector: string): Promise<boolean> => page.evaluate(`document.activeElement?.matches('${selector}')`);
const readField = (page: Page): Promise<string> => field(page).inputValue();

/** What stands in the log, speakers included. */
const readLog = async (page: Page): Promise<string[]> =>
  (await page.locator('.message:not(.typing)').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').replace(/ \d\d:\d\d$/, ''));

async function say(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press('Enter');
}

async function exchange(page: Page, text: string, reply: string): Promise<void> {
  llm.answerWith(() => reply);
  const replies = page.locator('.message.agent:not(.typing)');
  const before = await replies.count();
  await say(page, text);
  await replies.nth(before).waitFor();
}

/** Holds what is sent until the test lets it go on. */
async function hold(page: Page): Promise<{ held: Route[] }> {
  const held: Route[] = [];
  await page.route(messages, (route) => void held.push(route));
  return { held };
}

/** The next message goes this way. The handler stays and lets later ones pass: taking it away would race with the next one's coming. */
function divertOnce(page: Page, way: (route: Route) => Promise<void>): Promise<unknown> {
  let isUsed = false;
  return page.route(messages, (route) => {
    if (isUsed) return route.fallback();
    isUsed = true;
    return way(route);
  });
}

/** The next message is answered by this, without the platform. */
const answerOnce = (page: Page, status: number, headers: Record<string, string> = {}, body = '{"detail":"no"}'): Promise<unknown> =>
  divertOnce(page, (route) => route.fulfill({ status, headers, contentType: 'application/json', body }));

async function findAccessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
       .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ' ' + node.target + ': ' + node.failureSummary)))`,
  );
}

describe('the visitor page of an agent', () => {
  it('sends a message, shows it and that the agent writes, then the reply; and never two at once', async () => {
    const page = await openPage();
    expect(await page.title()).toBe('Welcome guide · Chat');
    const { held } = await hold(page);
    llm.answerWith(() => 'An **open circle** is for [everybody](https://example.org/).');
    await say(page, 'What is an *open circle*?');
    await page.getByText('Welcome guide is writing…').waitFor();
    expect(await readLog(page)).toEqual(['You: What is an *open circle*?']);
    expect(await page.locator('.typing').isVisible()).toBe(true);
    await say(page, 'And one more');
    await page.getByRole('button', { name: 'Send' }).click({ force: true });
    expect([await readField(page), await isFocused(page, '#message'), held.length]).toEqual(['And one more', true, 1]);

    await held[0]?.continue();
    await page.getByRole('link', { name: 'everybody' }).waitFor();
    expect(await readLog(page)).toEqual(['You: What is an open circle?', 'Welcome guide: An open circle is for everybody.']);
    expect(await page.locator('.words b, .words i').allInnerTexts()).toEqual(['open circle', 'open circle']);
    expect(await page.getByRole('link', { name: 'everybody' }).getAttribute('rel')).toBe('noopener noreferrer nofollow');
    expect(await page.locator('.typing').count()).toBe(0);
    expect([await readField(page), await isFocused(page, '#message'), held.length]).toEqual(['And one more', true, 1]);
  });

  it('keeps its thread and the text being written over a reload, and the agent remembers', async () => {
    const page = await openPage();
    await exchange(page, 'My name is Ada', 'Hello Ada');
    await field(page).fill('Half a sen');
    const sent = page.waitForRequest(messages);
    await page.reload();
    expect(await readLog(page)).toEqual(['You: My name is Ada', 'Welcome guide: Hello Ada']);
    expect(await readField(page)).toBe('Half a sen');
    await exchange(page, 'Who am I?', 'You are Ada');
    expect((await sent).postDataJSON()).toEqual({ body: 'Who am I?', visitor_id: expect.any(String) });
    expect(llm.requests.at(-1)?.messages.map(({ content }) => content)).toEqual(
      expect.arrayContaining(['My name is Ada', 'Hello Ada', 'Who am I?']),
    );
  });

  it('starts over after a question, as a visitor whom the agent does not know', async () => {
    const page = await openPage();
    expect(await page.getByRole('button', { name: 'Start over' }).count()).toBe(0);
    await exchange(page, 'My name is Ben', 'Hello Ben');
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByRole('dialog', { name: 'Start over?' }).getByRole('button', { name: 'Keep them' }).click();
    expect(await readLog(page)).toHaveLength(2);
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start over' }).click();
    await waitFor(() => isFocused(page, '#message'), { what: 'the focus back in the field' });
    expect(await readLog(page)).toEqual([]);
    const sent = page.waitForRequest(messages);
    await exchange(page, 'Who am I?', 'I do not know');
    expect((await sent).postDataJSON()).toEqual({ body: 'Who am I?' });
    await page.reload();
    expect(await readLog(page)).toEqual(['You: Who am I?', 'Welcome guide: I do not know']);
  });

  it('says so when the agent has forgotten the thread', async () => {
    const page = await openPage();
    await exchange(page, 'My name is Cy', 'Hello Cy');
    await page.evaluate(
      `localStorage.setItem('coherence-chat:welcome-guide', localStorage.getItem('coherence-chat:welcome-guide').replace(/"visitorId":"[^"]+"/, '"visitorId":"gone"'))`,
    );
    await exchange(page, 'Who am I?', 'Somebody');
    expect(await page.locator('.notice').innerText()).toMatch(/no longer knows what was said before/);
  });

  it('shows in one tab what is said in another', async () => {
    const page = await openPage();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await exchange(page, 'From the first tab', 'Heard');
    await waitFor(async () => (await readLog(other)).length === 2, { what: 'the turn in the other tab' });
    expect(await readLog(other)).toEqual(await readLog(page));
  });
});

describe('the visitor page when a message cannot be answered (D33a)', () => {
  it('keeps the text when the network fails, and sends it again', async () => {
    const page = await openPage();
    await divertOnce(page, (route) => route.abort('connectionfailed'));
    await say(page, 'Can you hear me?');
    await alert(page).getByText('The connection failed. Your message is still here.').waitFor();
    expect([await readField(page), await readLog(page), await isFocused(page, '#message')]).toEqual(['Can you hear me?', [], true]);
    llm.answerWith(() => 'Loud and clear');
    await page.getByRole('button', { name: 'Try again' }).click();
    await log(page).getByText('Loud and clear').waitFor();
    expect([await readField(page), await isFocused(page, '#message'), await alert(page).count()]).toEqual(['', true, 0]);
    expect(await readLog(page)).toEqual(['You: Can you hear me?', 'Welcome guide: Loud and clear']);
  });

  it('waits as long as a real 503 asks for, keeping what is typed meanwhile', async () => {
    const page = await openPage();
    await page.clock.install();
    llm.fail({ kind: 'status', status: 500 }, { kind: 'status', status: 500 });
    const { held } = await hold(page);
    const answered = page.waitForResponse(messages);
    await say(page, 'First line');
    await field(page).pressSequentially('typed meanwhile');
    await waitFor(() => held.length === 1);
    await held[0]?.continue();
    const seconds = Number((await answered).headers()['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    await alert(page).getByText('No answer is possible right now.').waitFor();
    expect(await readField(page)).toBe('First line\ntyped meanwhile');
    await page.unroute(messages);

    const retry = page.getByRole('button', { name: /^Try again/ });
    expect(await retry.innerText()).toMatch(/^Try again in \d+ s$/);
    await field(page).press('Enter');
    await retry.click({ force: true });
    expect(await page.locator('.typing').count()).toBe(0);
    await page.clock.fastForward(seconds * 1000 + 1000);
    await page.getByText('You can try again now.').waitFor();
    llm.answerWith(() => 'Here I am');
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await log(page).getByText('Here I am').waitFor();
  });

  it('explains every refusal, keeps the text and offers to try again where that may help', async () => {
    const page = await openPage();
    for (const [status, words, again] of [
      [422, 'This message is too long.', false],
      [413, 'This message is too long.', false],
      [404, 'This chat is no longer there.', false],
      [400, 'There is nothing to send in this message.', false],
      [500, 'Something went wrong on our side.', true],
      [429, 'That was too much at once.', true],
    ] as const) {
      await answerOnce(page, status, status === 429 ? { 'retry-after': new Date(Date.now() + 120_000).toUTCString() } : {});
      await say(page, `Words before ${status}`);
      await alert(page).getByText(words).waitFor();
      expect([await readField(page), await page.locator('#retry').isVisible()]).toEqual([`Words before ${status}`, again]);
    }
    expect(await page.locator('#retry').innerText()).toMatch(/^Try again in \d{2,3} s$/);
  });

  it('keeps the text of a reply that is none, and of a page closed before the reply came', async () => {
    const page = await openPage();
    await answerOnce(page, 200, {}, '{"agent_html":"<b>half');
    await say(page, 'Anybody there?');
    await alert(page).getByText('The reply did not arrive whole.').waitFor();
    const { held } = await hold(page);
    await field(page).press('Enter');
    await waitFor(() => held.length === 1);
    await page.reload();
    await alert(page).getByText('The page was closed before the reply came.').waitFor();
    expect([await readField(page), await readLog(page)]).toEqual(['Anybody there?', []]);
  });

  it('does not send what is blank or too long, and counts near the limit as the API does', async () => {
    const page = await openPage();
    const { held } = await hold(page);
    await say(page, ' \n ');
    await say(page, '🙂'.repeat(16_385));
    await page.getByText('16,385 of 16,384 characters').waitFor();
    expect([held.length, await field(page).getAttribute('aria-invalid')]).toEqual([0, 'true']);
    await field(page).fill('🙂'.repeat(16_384));
    expect(await field(page).getAttribute('aria-invalid')).toBe('false');
  });

  it('answers 404 with a page of its own for an agent that nobody has', async () => {
    const page = await (await openContext()).newPage();
    const response = await page.goto(`${world.baseUrl}/chat/nobody`);
    expect(response?.status()).toBe(404);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('No such chat');
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});

describe('the visitor page for everybody', () => {
  it('is used with the keyboard alone', async () => {
    const page = await openPage();
    llm.answerWith(() => 'Read');
    expect(await isFocused(page, '#message')).toBe(true);
    await page.keyboard.type('one');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    const sent = page.waitForRequest(messages);
    await page.keyboard.press('Enter');
    expect((await sent).postDataJSON()).toEqual({ body: 'one\ntwo' });
    await log(page).getByText('Read').waitFor();
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

  it('does not send while characters are being composed', async () => {
    const page = await openPage();
    const { held } = await hold(page);
    await field(page).fill('にほん');
    await field(page).dispatchEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true });
    expect([held.length, await readField(page)]).toEqual([0, 'にほん']);
  });

  it.each(['light', 'dark'] as const)('has no fault that axe finds, empty, in talk, refused and asking (%s)', async (colorScheme) => {
    const page = await openPage({ ...desk, colorScheme, reducedMotion: 'reduce' });
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await exchange(page, 'Show `code`, [a link](https://example.org) and\n\n> a quote', 'Plain words');
    await answerOnce(page, 503, { 'retry-after': '30' });
    await say(page, 'Refused');
    await alert(page).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Start over' }).click();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });

  it('stands still for those who asked for it', async () => {
    for (const [reducedMotion, name] of [
      ['no-preference', 'breathe'],
      ['reduce', 'none'],
    ] as const) {
      const page = await openPage({ ...desk, reducedMotion });
      await hold(page);
      await say(page, 'Wait');
      expect(await page.evaluate(`getComputedStyle(document.querySelector('.typing span')).animationName`)).toBe(name);
    }
  });

  it('fits a phone: nothing to scroll sideways, the field in sight, targets for thumbs', async () => {
    const page = await openPage(phone);
    expect(await isFocused(page, '#message')).toBe(false); // the keyboard would hide the page
    await exchange(page, `A very ${'long'.repeat(60)} word`, `\`\`\`\n${'code '.repeat(80)}\n\`\`\`\nand more words`.repeat(3));
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
    expect(await page.evaluate(`parseFloat(getComputedStyle(document.querySelector('#message')).fontSize)`)).toBeGreaterThanOrEqual(16);
    await page.setViewportSize({ width: 360, height: 300 }); // what a keyboard leaves
    await field(page).fill('line\n'.repeat(30));
    expect(await seen()).toEqual(good);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await seen()).toEqual(good);
  });
});

describe('the visitor page is not harmed', () => {
  it('by HTML that the renderer would never send', async () => {
    const page = await openPage();
    const agent_html =
      '<b onclick="harm()" style="color:red">bold</b><img src="x" onerror="harm()"><script>harm()</script><a href="javascript:harm()">click</a>' +
      '<iframe src="https://example.org"></iframe><svg onload="harm()"><a href="https://example.org">svg</a></svg><form action="/x"><input></form>' +
      '<a href="/api/docs">relative</a><a href="https://example.org/ok" onclick="harm()">fine</a><u>&lt;i&gt;</u>';
    const turn = { visitor_id: 'v', thread_key: 'k', human_html: '<b>me</b>', agent_html, created_at: '2026-01-01T00:00:00+00:00' };
    await answerOnce(page, 200, {}, JSON.stringify(turn));
    await say(page, 'me');
    await page.locator('.message.agent:not(.typing)').waitFor();
    expect(await page.locator('.message.agent .words').innerHTML()).toBe(
      '<b>bold</b>clickrelative<a href="https://example.org/ok" target="_blank" rel="noopener noreferrer nofollow">fine</a><u>&lt;i&gt;</u>',
    );
    await page.reload();
    expect(await page.locator('.message.agent .words').innerText()).toBe('boldclickrelativefine<i>');
    // The browser tells what its policy would have refused had it come so far.
    expect(complaints.splice(0).filter((line) => !line.includes('violates the following Content Security Policy directive'))).toEqual([]);
  });

  it('by a browser that keeps nothing, or by broken memories', async () => {
    const context = await openContext();
    await context.addInitScript(`Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };`);
    const page = await context.newPage();
    await page.goto(`${world.baseUrl}/chat/welcome-guide`);
    await exchange(page, 'Remember me', 'For now');
    const sent = page.waitForRequest(messages);
    await exchange(page, 'Still?', 'Still');
    expect((await sent).postDataJSON()).toEqual({ body: 'Still?', visitor_id: expect.any(String) });
    expect(await readLog(page)).toHaveLength(4);

    const other = await openPage();
    await other.evaluate(`localStorage.setItem('coherence-chat:welcome-guide', '{"turns":[1,null,{"human_html":2}],"visitorId":{}}')`);
    await other.reload();
    await exchange(other, 'Hello?', 'Hello!');
    expect(await readLog(other)).toEqual(['You: Hello?', 'Welcome guide: Hello!']);
  });
});

describe('a screenshot', () => {
  it.each([
    ['chat-page', desk, 'light'],
    ['chat-page-dark', desk, 'dark'],
    ['chat-page-phone', phone, 'light'],
  ] as const)('is kept as .data/screenshots/%s.png', async (name, view, colorScheme) => {
    const page = await openPage({ ...view, colorScheme, reducedMotion: 'reduce' });
    await exchange(page, 'Hello! What is an open circle?', 'An open circle is a conversation that anybody may join.');
    await exchange(
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
