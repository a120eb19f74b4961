/** The visitor page while a reply is being written, in a real browser. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type LlmSpeech, provideTimeoutMs, waitFor } from '#libs/product/testing';
import type { Page } from 'playwright-core';
import { findAccessibilityProblems, screenshots } from './browser.ts';
import {
  alert,
  answerOnce,
  divertOnce,
  field,
  isFocused,
  readField,
  readLog,
  say,
  type ChatBrowser,
  startChatBrowser,
  said,
} from './chat-browser.ts';

const pictures = join(import.meta.dirname, '..', '..', 'docs', 'images');

let chat: ChatBrowser;
beforeAll(async () => {
  // The model is held while the page is checked, which can exceed the usual timeout on a busy machine.
  chat = await startChatBrowser(import.meta.url, { LLM_TIMEOUT_MS: '60000' });
}, provideTimeoutMs);
afterEach(async () => expect(await chat.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(() => chat.stop());

describe('the visitor page during a streamed reply (C3)', () => {
  const long = Array.from({ length: 60 }, (_, line) => `Line ${line} of a **long** reply.`).join('\n\n');
  const writing = (page: Page) => page.locator('.message.writing');
  const scrollTop = (page: Page): Promise<number> => page.evaluate(`document.querySelector('#log').scrollTop`);

  /**
   * Returns a streamed reply that pauses before each of these words. `goOn` releases the next pause, so that
   * intermediate states can be checked on slow machines.
   */
  function holdBefore(...words: string[]): { speech: LlmSpeech; goOn(): void } {
    const held = words.map((word) => ({ word, ...Promise.withResolvers<void>() }));
    const [...waiting] = held;
    return {
      speech: { pauseMs: 30, before: (word) => held.find((item) => item.word === word)?.promise },
      goOn: () => waiting.shift()?.resolve(),
    };
  }

  /** Waits until smooth scrolling has ended and returns the scroll position of the log. */
  const settledTop = async (page: Page): Promise<number> => {
    let last = -1;
    await waitFor(async () => last === (last = await scrollTop(page)), { what: 'the log at rest' });
    return last;
  };

  it('displays the growing reply with a caret, announces it when it is complete, and displays it after a reload', async () => {
    const page = await chat.openPage();
    const { speech, goOn } = holdBefore('who');
    chat.llm.answerWith(
      () => 'The **open circle** is for [everybody](https://example.org/) who comes at five.',
      speech,
    );
    await say(page, 'What is it?');
    await writing(page).locator('b', { hasText: 'open' }).waitFor();
    expect(await writing(page).getAttribute('aria-hidden')).toBe('true');
    expect(await writing(page).innerText()).not.toMatch(/\*|\[/);
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.writing .words'), '::after').display`)).toBe(
      'inline-block',
    );
    expect(await findAccessibilityProblems(page)).toEqual([]);
    goOn();
    await page.getByRole('link', { name: 'everybody' }).waitFor();
    await writing(page).waitFor({ state: 'detached' });
    const said = ['You: What is it?', 'Welcome guide: The open circle is for everybody who comes at five.'];
    expect(await readLog(page)).toEqual(said);
    await page.reload();
    expect(await readLog(page)).toEqual(said);
  });

  // WRITE_SCREENSHOTS=true writes these pictures to docs/images.
  it('saves screenshots of half a sentence, half a list, and the complete reply', async () => {
    const folder = process.env['WRITE_SCREENSHOTS'] === 'true' ? pictures : screenshots;
    mkdirSync(folder, { recursive: true });
    const page = await chat.openPage({ viewport: { width: 640, height: 520 } });
    const reply =
      'An **open circle** is a conversation that [everybody](https://example.org/) may join.\n\n- It begins with *one question*.\n- Whoever wants to speak, speaks.\n- It ends after an hour.\n\nThe next one is on Thursday at five.';
    const { speech, goOn } = holdBefore('that', 'wants');
    chat.llm.answerWith(() => reply, speech);
    await say(page, 'What is an open circle?');
    const seen: string[] = [];
    for (const [index, until] of ['conversation', 'Whoever', undefined].entries()) {
      if (until === undefined) await said(page, 'Thursday at five.').waitFor();
      else await writing(page).getByText(until).waitFor();
      const picture = await page.screenshot({
        path: join(folder, `chat-writing-${index + 1}.png`),
        animations: 'disabled',
      });
      expect(picture.byteLength).toBeGreaterThan(5_000);
      seen.push(await page.locator('.message.agent').last().innerText());
      goOn();
    }
    await writing(page).waitFor({ state: 'detached' });
    for (const text of seen) expect(text).not.toMatch(/\*|\[/);
    expect(seen.map((text) => text.length)).toEqual(
      seen.map((text) => text.length).toSorted((left, right) => left - right),
    );
  });

  it('preserves the selected text while the reply grows', async () => {
    const page = await chat.openPage();
    const { speech, goOn } = holdBefore('of', 'while.');
    chat.llm.answerWith(() => 'First words of a reply that goes on and on and on for a while.', speech);
    await say(page, 'Go on');
    await writing(page).getByText('First words').waitFor();
    await page.evaluate(
      `getSelection().setBaseAndExtent(document.querySelector('.writing .words').firstChild, 0, document.querySelector('.writing .words').firstChild, 5)`,
    );
    goOn();
    await writing(page).getByText('on and on').waitFor();
    expect(await page.evaluate(`String(getSelection())`)).toBe('First');
    goOn();
  });

  it('scrolls with a long reply until its first line is at the top, and does not jump afterwards', async () => {
    const page = await chat.openPage();
    const { speech, goOn } = holdBefore('41');
    chat.llm.answerWith(() => long, { ...speech, pauseMs: 15 });
    await say(page, 'Tell me everything');
    await writing(page).getByText('Line 40').waitFor();
    const top = await settledTop(page);
    expect(top).toBeGreaterThan(0);
    expect(
      await page.evaluate(
        `Math.round(document.querySelector('.writing').offsetTop - document.querySelector('#log').scrollTop)`,
      ),
    ).toBe(16);
    goOn();
    await writing(page).waitFor({ state: 'detached' });
    expect(await scrollTop(page)).toBe(top);
  });

  it('does not scroll while the visitor reads earlier messages', async () => {
    const page = await chat.openPage();
    await chat.exchange(page, 'Before', long);
    const { speech, goOn } = holdBefore('else.');
    chat.llm.answerWith(() => 'Some more words that come one by one while somebody reads something else.', speech);
    await say(page, 'And now');
    await writing(page).waitFor();
    await page.locator('#log').hover();
    await page.mouse.wheel(0, -600);
    await waitFor(
      async () =>
        (await page.evaluate<number>(
          `(() => { const log = document.querySelector('#log'); return log.scrollHeight - log.scrollTop - log.clientHeight })()`,
        )) > 300,
    );
    const before = await settledTop(page);
    goOn();
    await writing(page).waitFor({ state: 'detached' });
    expect(await scrollTop(page)).toBe(before);
  });

  it('stops displaying a reply on the button or Escape; the next message waits for the complete reply, which is displayed later', async () => {
    const page = await chat.openPage();
    const counting = holdBefore('four');
    chat.llm.answerWith(() => 'One two three four five six seven eight nine ten eleven twelve.', counting.speech);
    await say(page, 'Count');
    await writing(page).getByText('two').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    expect([
      await isFocused(page, '#message'),
      await page.locator('#stop').isVisible(),
      await page.locator('#send').isVisible(),
    ]).toEqual([true, false, true]);
    chat.llm.answerWith(() => 'Done');
    await say(page, 'Thank you');
    await page.getByText('Sent when the agent has finished').waitFor();
    counting.goOn();
    await said(page, 'Done').waitFor();
    const [, stopped] = await readLog(page);
    expect(stopped).toMatch(/^Welcome guide: One two.*Show full reply$/);
    expect(stopped).not.toContain('twelve');
    await page.reload();
    await page.getByRole('button', { name: 'Show full reply' }).click();
    expect((await readLog(page)).slice(1)).toEqual([
      'Welcome guide: One two three four five six seven eight nine ten eleven twelve.',
      'You: Thank you',
      'Welcome guide: Done',
    ]);

    const backwards = holdBefore('two');
    chat.llm.answerWith(() => 'Six five four three two one and much more.', backwards.speech);
    await say(page, 'Backwards');
    await writing(page).getByText('five').waitFor();
    await field(page).press('Escape');
    backwards.goOn();
    await page.getByRole('button', { name: 'Show full reply' }).waitFor();
    expect((await readLog(page)).at(-1)).not.toContain('much more');
  });

  it('moves the focus from the stop button to the send button when the reply ends', async () => {
    const page = await chat.openPage();
    const { speech, goOn } = holdBefore('three');
    chat.llm.answerWith(() => 'One two three four five six seven eight.', speech);
    await say(page, 'Count');
    await page.getByRole('button', { name: 'Stop' }).focus();
    goOn();
    await writing(page).waitFor({ state: 'detached' });
    expect(await waitFor(() => isFocused(page, '#send'), { what: 'the focus on the other button' })).toBe(true);
  });

  it('restores the visitor’s text when the agent aborts the reply', async () => {
    const page = await chat.openPage();
    chat.llm.answerWith(() => 'It begins well and then');
    const { speech, goOn } = holdBefore('then');
    chat.llm.fail({ kind: 'stream', ending: 'cut_off', ...speech });
    await say(page, 'Will it end?');
    await writing(page).getByText('It begins').waitFor();
    goOn();
    await alert(page).getByText('The agent cannot reply right now.').waitFor();
    expect([await readField(page), await readLog(page)]).toEqual(['Will it end?', []]);
  });

  it('requests the reply once more when the connection closes during the stream', async () => {
    const page = await chat.openPage();
    chat.llm.answerWith(() => 'The whole reply');
    await divertOnce(page, (route) =>
      route.fulfill({
        status: 200,
        contentType: 'text/event-stream',
        body: 'event: snapshot\ndata: {"agent_html":"The wh"}\n\n',
      }),
    );
    await say(page, 'Is the line good?');
    await said(page, 'The whole reply').waitFor();
    expect(await readLog(page)).toEqual(['You: Is the line good?', 'Welcome guide: The whole reply']);
  });

  it('displays the reply of a server that does not stream', async () => {
    const page = await chat.openPage();
    const turn = {
      visitor_id: 'v',
      thread_key: 'k',
      human_html: 'Hi',
      agent_html: 'All at <b>once</b>',
      created_at: new Date().toISOString(),
    };
    await answerOnce(page, 200, {}, JSON.stringify(turn));
    await say(page, 'Hi');
    await said(page, 'All at once').waitFor();
    expect(await readLog(page)).toEqual(['You: Hi', 'Welcome guide: All at once']);
  });
});
