/** Messages on the visitor page: sent, answered, rejected, lost. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs, waitFor } from '#libs/product/testing';
import type { Page } from 'playwright-core';
import { findAccessibilityProblems } from './browser.ts';
import {
  alert,
  answerOnce,
  divertOnce,
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
  chat = await startChatBrowser(import.meta.url);
}, provideTimeoutMs);
afterEach(async () => expect(await chat.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(() => chat.stop());

describe('the visitor page of an agent', () => {
  it('displays a sent message with a typing indicator, then the reply, and sends one message at a time', async () => {
    const page = await chat.openPage();
    expect(await page.title()).toBe('Welcome guide · Chat');
    const { held } = await hold(page);
    chat.llm.answerWith(() => 'An **open circle** is for [everybody](https://example.org/).');
    await say(page, 'What is an *open circle*?');
    await page.getByText('Welcome guide is writing…').waitFor();
    expect(await readLog(page)).toEqual(['You: What is an *open circle*?']);
    expect(await page.locator('.typing').isVisible()).toBe(true);
    await say(page, 'And one more');
    await page.getByRole('button', { name: 'Send' }).click({ force: true });
    expect([await readField(page), await isFocused(page, '#message'), held.length]).toEqual(['And one more', true, 1]);

    await held[0]?.continue();
    await page.getByRole('link', { name: 'everybody' }).waitFor();
    expect(await readLog(page)).toEqual([
      'You: What is an open circle?',
      'Welcome guide: An open circle is for everybody.',
    ]);
    expect(await page.locator('.words b, .words i').allInnerTexts()).toEqual(['open circle', 'open circle']);
    expect(await page.getByRole('link', { name: 'everybody' }).getAttribute('rel')).toBe(
      'noopener noreferrer nofollow',
    );
    expect(await page.locator('.typing').count()).toBe(0);
    expect([await readField(page), await isFocused(page, '#message'), held.length]).toEqual(['And one more', true, 1]);
  });

  it('restores the thread and the draft after a reload, and the agent continues the thread', async () => {
    const page = await chat.openPage();
    await chat.exchange(page, 'My name is Ada', 'Hello Ada');
    await field(page).fill('Half a sen');
    const sent = page.waitForRequest(messages);
    await page.reload();
    expect(await readLog(page)).toEqual(['You: My name is Ada', 'Welcome guide: Hello Ada']);
    expect(await readField(page)).toBe('Half a sen');
    await chat.exchange(page, 'Who am I?', 'You are Ada');
    expect((await sent).postDataJSON()).toEqual({ body: 'Who am I?', visitor_id: expect.any(String) });
    expect(chat.llm.requests.at(-1)?.messages.map(({ content }) => content)).toEqual(
      expect.arrayContaining(['My name is Ada', 'Hello Ada', 'Who am I?']),
    );
  });

  it('starts a new thread after a confirmation, with a new visitor id', async () => {
    const page = await chat.openPage();
    expect(await page.getByRole('button', { name: 'Start over' }).count()).toBe(0);
    await chat.exchange(page, 'My name is Ben', 'Hello Ben');
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByRole('dialog', { name: 'Start over?' }).getByRole('button', { name: 'Cancel' }).click();
    expect(await readLog(page)).toHaveLength(2);
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Start over' }).click();
    await waitFor(() => isFocused(page, '#message'), { what: 'the focus back in the field' });
    expect(await readLog(page)).toEqual([]);
    const sent = page.waitForRequest(messages);
    await chat.exchange(page, 'Who am I?', 'I do not know');
    expect((await sent).postDataJSON()).toEqual({ body: 'Who am I?' });
    await page.reload();
    expect(await readLog(page)).toEqual(['You: Who am I?', 'Welcome guide: I do not know']);
  });

  it('displays a notice when the thread no longer exists', async () => {
    const page = await chat.openPage();
    await chat.exchange(page, 'My name is Cy', 'Hello Cy');
    await page.evaluate(
      `localStorage.setItem('coherence-chat:welcome-guide', localStorage.getItem('coherence-chat:welcome-guide').replace(/"visitorId":"[^"]+"/, '"visitorId":"gone"'))`,
    );
    await chat.exchange(page, 'Who am I?', 'Somebody');
    expect(await page.locator('.notice').innerText()).toMatch(/no longer has the previous conversation/);
  });

  it('displays the messages of one tab in another tab', async () => {
    const page = await chat.openPage();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await chat.exchange(page, 'From the first tab', 'Heard');
    await waitFor(async () => (await readLog(other)).length === 2, { what: 'the turn in the other tab' });
    expect(await readLog(other)).toEqual(await readLog(page));
  });
});

describe('the visitor page when a message has no reply (D33a)', () => {
  it('retains the text when the network fails, and sends it again on request', async () => {
    const page = await chat.openPage();
    await divertOnce(page, (route) => route.abort('connectionfailed'));
    await say(page, 'Can you hear me?');
    await alert(page).getByText('The connection failed. Your message is still here.').waitFor();
    expect([await readField(page), await readLog(page), await isFocused(page, '#message')]).toEqual([
      'Can you hear me?',
      [],
      true,
    ]);
    chat.llm.answerWith(() => 'Loud and clear');
    await page.getByRole('button', { name: 'Try again' }).click();
    await said(page, 'Loud and clear').waitFor();
    expect([await readField(page), await isFocused(page, '#message'), await alert(page).count()]).toEqual([
      '',
      true,
      0,
    ]);
    expect(await readLog(page)).toEqual(['You: Can you hear me?', 'Welcome guide: Loud and clear']);
  });

  it('waits for the Retry-After of a 503 response, and preserves text typed during the wait', async () => {
    const page = await chat.openPage();
    await page.clock.install();
    chat.llm.fail({ kind: 'status', status: 500 }, { kind: 'status', status: 500 });
    const { held } = await hold(page);
    const answered = page.waitForResponse(messages);
    await say(page, 'First line');
    await field(page).pressSequentially('typed meanwhile');
    await waitFor(() => held.length === 1);
    await held[0]?.continue();
    const seconds = Number((await answered).headers()['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    await alert(page).getByText('The agent cannot reply right now.').waitFor();
    expect(await readField(page)).toBe('First line\ntyped meanwhile');
    await page.unroute(messages);

    const retry = page.getByRole('button', { name: /^Try again/ });
    expect(await retry.innerText()).toMatch(/^Try again in \d+ s$/);
    await field(page).press('Enter');
    await retry.click({ force: true });
    expect(await page.locator('.typing').count()).toBe(0);
    await page.clock.fastForward(seconds * 1000 + 1000);
    await page.getByText('You can try again now.').waitFor();
    chat.llm.answerWith(() => 'Here I am');
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await said(page, 'Here I am').waitFor();
  });

  it('explains every error, retains the text, and offers a retry for temporary errors', async () => {
    const page = await chat.openPage();
    for (const [status, words, again] of [
      [422, 'This message is too long.', false],
      [413, 'This message is too long.', false],
      [404, 'This chat no longer exists.', false],
      [400, 'Enter a message before you send.', false],
      [500, 'Something went wrong on our side.', true],
      [429, 'Too many messages. Please wait.', true],
    ] as const) {
      await answerOnce(
        page,
        status,
        status === 429 ? { 'retry-after': new Date(Date.now() + 120_000).toUTCString() } : {},
      );
      await say(page, `Words before ${status}`);
      await alert(page).getByText(words).waitFor();
      expect([await readField(page), await page.locator('#retry').isVisible()]).toEqual([
        `Words before ${status}`,
        again,
      ]);
    }
    expect(await page.locator('#retry').innerText()).toMatch(/^Try again in \d{2,3} s$/);
  });

  it('retains the text after an invalid response, and when the page is closed before the reply', async () => {
    const page = await chat.openPage();
    await answerOnce(page, 200, {}, '{"agent_html":"<b>half');
    await say(page, 'Anybody there?');
    await alert(page).getByText('The reply is incomplete.').waitFor();
    const { held } = await hold(page);
    await field(page).press('Enter');
    await waitFor(() => held.length === 1);
    await page.reload();
    await alert(page).getByText('The page was closed before the reply arrived.').waitFor();
    expect([await readField(page), await readLog(page)]).toEqual(['Anybody there?', []]);
  });

  it('does not send blank or too long text, and counts the characters near the limit like the API', async () => {
    const page = await chat.openPage();
    const { held } = await hold(page);
    await say(page, ' \n ');
    await say(page, '🙂'.repeat(16_385));
    await page.getByText('16,385 of 16,384 characters').waitFor();
    expect([held.length, await field(page).getAttribute('aria-invalid')]).toEqual([0, 'true']);
    await field(page).fill('🙂'.repeat(16_384));
    expect(await field(page).getAttribute('aria-invalid')).toBe('false');
  });

  it('returns a custom 404 page for an unknown agent', async () => {
    const page = await (await chat.openContext()).newPage();
    const response = await page.goto(`${chat.platform.baseUrl}/chat/nobody`);
    expect(response?.status()).toBe(404);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Chat not found');
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});

describe('the visitor page when the response is lost (docs/adr/chat-turns.md; rules/agents#visitor-chat)', () => {
  /**
   * Drops the response: the platform handles the message, but the connection breaks before the page receives the
   * response.
   */
  const loseReply = (page: Page): Promise<unknown> =>
    divertOnce(page, async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
  const countAsked = (text: string): number =>
    chat.llm.requests.filter((request) => request.messages.at(-1)?.content === text).length;

  it('sends a message again without a duplicate, and continues the same thread', async () => {
    const page = await chat.openPage();
    chat.llm.answerWith(() => 'Heard once');
    await loseReply(page);
    await say(page, 'Only once, please');
    await alert(page).getByText('The connection failed.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await said(page, 'Heard once').waitFor();
    expect(await readLog(page)).toEqual(['You: Only once, please', 'Welcome guide: Heard once']);
    await chat.exchange(page, 'Go on', 'Gone on');
    const asked = chat.llm.requests.at(-1)?.messages.map(({ content }) => content);
    expect([
      countAsked('Only once, please'),
      asked?.filter((content) => content === 'Only once, please').length,
    ]).toEqual([1, 1]);
  });

  it('sends the pending message with the same key after a reload, and a different text with a new key', async () => {
    const page = await chat.openPage();
    chat.llm.answerWith((said) => `re: ${said.at(-1)?.content}`);
    await loseReply(page);
    await say(page, 'Before the reload');
    await alert(page).waitFor();
    await page.reload();
    await field(page).press('Enter');
    await said(page, 're: Before the reload').waitFor();
    expect(countAsked('Before the reload')).toBe(1);
    await say(page, 'Yes');
    await said(page, 're: Yes').waitFor();
    await say(page, 'Yes');
    await page.locator('.message.agent:not(.typing)').nth(2).waitFor();
    expect(countAsked('Yes')).toBe(2);
  });
});
