/** The webhook and pipeline pages in the console (P4, P5, P6). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs } from '#libs/product/testing';
import {
  type ConsoleBrowser,
  findFaultsOfBothSchemes,
  focusedHeading,
  heading,
  row,
  startConsoleBrowser,
  still,
  tabTo,
} from './console-browser.ts';
import { applyDemo, createConversation, type Demo } from './test-platform.ts';

let browser: ConsoleBrowser;
let demo: Demo;
let conversation: number;
beforeAll(async () => {
  browser = await startConsoleBrowser(import.meta.url, { BOOKING_WEBHOOK_SECRET: 'a-secret-of-bookings-long-enough' });
  const { platform } = browser;
  demo = await applyDemo(platform, 'ops', [
    { slug: 'held', title: 'Held' },
    { slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config: {} },
  ]);
  // Unsigned webhook: a receipt without a body.
  await platform.call('POST', `/api/coherence/hook/booking/${demo.ada}`, {
    token: null,
    json: { triggerEvent: 'BOOKING_CREATED' },
  });
  conversation = (await createConversation(platform, demo, '2026-05-01T09:00:00Z')).id;
  await platform.ask('conversations', 'move', String(conversation), 'import');
}, provideTimeoutMs);
afterEach(async () => expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(() => browser.stop());

describe('console pages of webhooks (P4)', () => {
  it('display received webhooks with their outcome, and mark webhooks that cannot be replayed', async () => {
    const page = await browser.open('operator', '/console/webhooks');
    await page.getByLabel('Kind').selectOption('booking');
    await page.getByRole('button', { name: 'Filter' }).click();
    await row(page, 'rejected').first().waitFor();
    await page.getByText('Copy as command').click();
    expect(await page.locator('.command code').innerText()).toBe(
      'coherence webhooks list --provider cal.com --limit 50 --json',
    );
    await page.getByLabel('Text in the body').fill('it’s -x');
    await page.getByLabel('Person (id)').fill(String(demo.ada));
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No webhooks match these filters.').waitFor();
    expect(await page.locator('.command code').textContent()).toBe(
      `coherence webhooks list --provider cal.com --text 'it’s -x' --person ${demo.ada} --limit 50 --json`,
    );
    await page.goBack();
    await row(page, 'rejected').first().waitFor();
    await page.getByRole('button', { name: 'Replay all that match…' }).click();
    await page.getByRole('dialog').getByText('No matching items can be changed.').waitFor();
    await page.keyboard.press('Escape');
    await row(page, 'rejected').first().getByRole('link').first().click();
    await page.getByText('The body was not stored. The webhook cannot be replayed.').waitFor();
    expect(await page.getByLabel('Headers').innerText()).toMatch(/content-type/);
  });
});

describe('keyboard use of the pages of webhooks (P6)', () => {
  it('leads by keyboard from a filter to one webhook and its replay, and restores the focus', async () => {
    await browser.platform.sql(
      `insert into conversations.webhook_receipts (source, dedupe_key, delivery_id, received_at, person_id, headers, trigger_event, body, outcome)
       values ('booking', 'by-keyboard', 'x', now(), $1, '{}', 'BOOKING_CREATED', '{"uid": "by-keyboard"}', 'person_not_found')`,
      [String(demo.ada)],
    );
    const page = await browser.open('operator', '/console/webhooks');
    await row(page, 'person_not_found').waitFor();
    await tabTo(page, 'Kind');
    await page.keyboard.type('booking');
    await tabTo(page, 'Text in the body');
    await page.keyboard.type('by-keyboard');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Show all' }).waitFor();
    expect(new URL(page.url()).search).toBe('?kind=booking&q=by-keyboard');
    await row(page, 'person_not_found').waitFor();
    await tabTo(page, 'Replay all that match…');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('1 webhook will be changed.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await page.evaluate('document.activeElement.innerText')).toBe('Replay all that match…');
    await tabTo(page, /^booking \d+$/);
    await page.keyboard.press('Enter');
    await focusedHeading(page, /^booking \d+$/).waitFor();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
    await tabTo(page, 'Replay');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Replay');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    const jobs = await browser.platform.sql(
      `select 1 as one from conversations.jobs where type = 'conversations.booking-event'`,
    );
    expect(jobs).toHaveLength(1);
  });
});

describe('console page of pipelines (P5)', () => {
  it('displays the current step of a conversation and the reason it waits, and allows operators, but not viewers, to retry it', async () => {
    const viewer = await browser.open('viewer', `/console/pipelines?journey=${demo.journey}`);
    await row(viewer, `conversation ${conversation}`).filter({ hasText: 'import' }).waitFor();
    await browser.platform.sql(
      `update transcripts.jobs set state = 'dead', error = 'Gone', finished_at = now() where type = 'transcripts.transcript-import'`,
    );
    await viewer.getByRole('button', { name: 'Refresh' }).click();
    await row(viewer, `conversation ${conversation}`).getByText('dead', { exact: true }).waitFor();
    await viewer.getByRole('button', { name: `Retry conversation ${conversation}` }).click();
    await viewer.getByRole('dialog').getByRole('button', { name: 'Retry' }).click();
    await viewer.getByRole('dialog').getByRole('alert').getByText('You may not do this.').waitFor();
    const operator = await browser.open('operator', '/console/pipelines');
    await tabTo(operator, `Retry conversation ${conversation}`);
    await operator.keyboard.press('Enter');
    await tabTo(operator, 'Retry');
    await operator.keyboard.press('Enter');
    await operator.getByRole('dialog').waitFor({ state: 'hidden' });
    const jobs = await browser.platform.sql(
      `select state from transcripts.jobs where type = 'transcripts.transcript-import'`,
    );
    expect([jobs.length, jobs[0]?.['state'] === 'dead']).toEqual([1, false]);
    const { body } = await browser.platform.client.listPipelines(
      { query: { journey: demo.journey } },
      { token: await browser.login('viewer') },
    );
    expect(body.items.map(({ conversation_id: id }) => id)).toEqual([conversation]);
    await row(operator, `conversation ${conversation}`).getByRole('link').click();
    await heading(operator, /^Conversation of/).waitFor();
    await operator.getByRole('link', { name: 'Pipeline state' }).click();
    await row(operator, `conversation ${conversation}`).waitFor();
    expect(await operator.getByLabel('Conversation', { exact: true }).inputValue()).toBe(String(conversation));
    await operator.getByText('Copy as command').click();
    expect(await operator.locator('.command code').innerText()).toBe(
      `coherence pipelines list --conversation ${conversation} --limit 50 --json`,
    );
  });
});

describe('accessibility of the pages of webhooks and pipelines (P6)', () => {
  it('pass axe and fit a width of 320 px on the pages of webhooks and pipelines, in light and dark mode', async () => {
    const page = await browser.open('operator', '/console/webhooks', still);
    await row(page, 'rejected').first().waitFor();
    expect(await findFaultsOfBothSchemes(page)).toEqual([]);
    await row(page, 'rejected').first().getByRole('link').first().click();
    await page.getByLabel('Headers').waitFor();
    expect(await findFaultsOfBothSchemes(page)).toEqual([]);
    await page.goto(`${browser.platform.baseUrl}/console/pipelines`);
    await row(page, `conversation ${conversation}`).waitFor();
    expect(await findFaultsOfBothSchemes(page)).toEqual([]);
  });
});
