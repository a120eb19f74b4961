/** The agent pages in the console: which visitor statements may be shared (D70, P6). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs } from '#libs/product/testing';
import {
  type ConsoleBrowser,
  findFaultsOfBothSchemes,
  heading,
  row,
  startConsoleBrowser,
  still,
  tabTo,
} from './console-browser.ts';

let browser: ConsoleBrowser;
let thread: number;
const hostile = '<img src=x onerror="document.title=1"> is served';
beforeAll(async () => {
  browser = await startConsoleBrowser(import.meta.url, { AGENT_KNOWLEDGE: 'reviewed' });
  const { platform } = browser;
  await platform.apply({ agents: [{ slug: 'guide', name: 'Guide' }] });
  const [row] = await platform.sql<{ id: number }>(
    `insert into agents.threads (agent_id, thread_key, channel, visitor_id, turn_count)
     select id, 'web:visitor:v:agent:' || id, 'web', 'v', 1 from agents.agents returning id::int as id`,
  );
  thread = row?.id ?? 0;
  await platform.sql(
    `insert into agents.messages (thread_id, turn, note_type, body, html, created_at)
     values ($1, 1, 'chat_visitor', $2, '', now()), ($1, 1, 'chat_agent', 'I see', '', now())`,
    [thread, hostile],
  );
  await platform.sql(
    `insert into agents.memory_facts (agent_id, thread_id, kind, body, up_to_turn)
     select agent_id, id, 'knowledge', body, 1 from agents.threads, unnest($1::text[]) body`,
    [['Tea is served at five', 'Somebody is ill', hostile]],
  );
}, provideTimeoutMs);
afterEach(async () => expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(() => browser.stop());

const waiting = () =>
  browser.platform
    .sql<{ body: string }>(`select body from agents.memory_facts where approved_at is null order by id`)
    .then((rows) => rows.map(({ body }) => body));

describe('console pages of agents (D70)', () => {
  it('lead by keyboard alone from the pending count to a decision, and to the thread of a sentence', async () => {
    const page = await browser.open('operator', '/console/agents');
    await row(page, 'guide').getByText('3', { exact: true }).waitFor();
    await tabTo(page, 'Guide');
    await page.keyboard.press('Enter');
    await heading(page, 'Agent guide').waitFor();
    await row(page, 'Tea is served at five').waitFor();
    await tabTo(page, /^Approve sentence/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Tea is served at five').waitFor();
    await tabTo(page, 'Approve');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('table', { name: 'Approved sentences' }).getByText('Tea is served at five').waitFor();
    expect(await waiting()).toEqual(['Somebody is ill', hostile]);
    await tabTo(page, `thread ${thread}`);
    await page.keyboard.press('Enter');
    await heading(page, `Thread ${thread}`).waitFor();
    await page.getByText(hostile).first().waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    await page.goBack();
    await heading(page, 'Agent guide').waitFor();
    await page.getByText('Copy as command').click();
    const command = await page.locator('.command code').innerText();
    expect(command).toBe('coherence agents knowledge list guide --json');
    expect(await browser.platform.ask(...command.split(' ').slice(1, -1))).toHaveLength(3);
  });

  it('reject a sentence after a confirmation, and explain to a viewer why the action is not allowed', async () => {
    const viewer = await browser.open('viewer', '/console/agents/guide');
    await row(viewer, 'Somebody is ill')
      .getByRole('button', { name: /^Reject/ })
      .click();
    await viewer.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await viewer.getByRole('dialog').getByRole('alert').getByText('You may not do this.').waitFor();
    const operator = await browser.open('operator', '/console/agents/guide');
    await row(operator, 'Somebody is ill')
      .getByRole('button', { name: /^Reject/ })
      .click();
    await operator.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await operator.getByRole('dialog').waitFor({ state: 'hidden' });
    await row(operator, 'Somebody is ill').waitFor({ state: 'hidden' });
    expect(await waiting()).not.toContain('Somebody is ill');
    const nobody = await browser.open('editor', '/console/agents');
    await nobody.getByText('You do not have access').waitFor();
  });

  it('pass axe and fit a width of 320 px, in light and dark mode', async () => {
    const page = await browser.open('operator', '/console/agents', still);
    for (const path of ['agents', 'agents/guide']) {
      await page.goto(`${browser.platform.baseUrl}/console/${path}`);
      await page.getByText(/^As of/).waitFor();
      expect([path, await findFaultsOfBothSchemes(page)]).toEqual([path, []]);
    }
  });
});
