/** Replies by an operator on the visitor page and in the console (H1, H2, H5; P6). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs, type LlmServer, startLlm } from '#libs/product/testing';
import { type ConsoleBrowser, findFaults, row, startConsoleBrowser } from './console-browser.ts';
import { field, readLog, say, said } from './chat-browser.ts';

let llm: LlmServer;
let browser: ConsoleBrowser;
beforeAll(async () => {
  llm = await startLlm();
  browser = await startConsoleBrowser(
    import.meta.url,
    { LLM_BASE_URL: llm.baseUrl, LLM_API_KEY: llm.apiKey, LLM_MODEL: 'scripted' },
    ['api-gateway', 'directory', 'agents'],
  );
  await browser.platform.apply({ agents: [{ slug: 'welcome-guide', name: 'Guide' }] });
  llm.answerWith((messages) => `You said: ${messages.at(-1)?.content}`);
}, provideTimeoutMs);
afterEach(async () => expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(async () => {
  await browser.stop();
  await llm.stop();
});

describe('the visitor page during a takeover (H2)', () => {
  it('displays operator messages from the console once, also after a reload, and agent replies after the takeover', async () => {
    const visitor = await (await browser.openContext()).newPage();
    await visitor.goto(`${browser.platform.baseUrl}/chat/welcome-guide`);
    await say(visitor, 'Hello');
    await said(visitor, 'You said: Hello').waitFor();

    const operator = await browser.open('operator', '/console/threads?taken=false');
    await row(operator, 'welcome-guide').getByRole('link').first().click();
    await operator.getByRole('button', { name: 'Take over' }).click();
    await operator.getByText('The agent is paused.').waitFor();
    await visitor
      .locator('.notice')
      .getByText('A person has taken over this conversation and will answer here.')
      .waitFor();
    await say(visitor, 'I would rather talk to a person');
    await visitor.getByRole('status').getByText('A person has joined and will answer here.').waitFor();
    await operator.getByLabel('Your message to the visitor').fill('Here **I** am <b>');
    expect(await findFaults(operator)).toEqual([]);
    await operator.getByRole('button', { name: 'Send' }).click();
    await row(operator, 'Here **I** am <b>').filter({ hasText: 'operator-console@example.org' }).waitFor();
    await said(visitor, 'Here I am <b>').waitFor();
    expect(await visitor.locator('.notice').count()).toBe(1);
    await visitor.reload();
    expect(await visitor.locator('.notice').count()).toBe(1);
    const words = [
      'You: Hello',
      'Welcome guide: You said: Hello',
      'You: I would rather talk to a person',
      'A person: A person Here I am <b>',
    ];
    expect(await readLog(visitor)).toEqual(words);

    await operator.getByRole('button', { name: 'Hand back to the agent' }).click();
    await operator.getByRole('button', { name: 'Take over' }).waitFor();
    await field(visitor).fill('Thank you');
    await field(visitor).press('Enter');
    await said(visitor, 'You said: Thank you').waitFor();
    expect((await readLog(visitor)).slice(0, 4)).toEqual(words);
  });
});
