/** The console in daily use: slow responses, several tabs, expired sessions, return URLs, languages (P6). */
import { randomUUIDv7 } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs, waitFor } from '#libs/product/testing';
import type { Page, Route } from 'playwright-core';
import { desk } from './browser.ts';
import { type ConsoleBrowser, focusedHeading, heading, row, signIn, startConsoleBrowser } from './console-browser.ts';

let browser: ConsoleBrowser;
let thread: number;
const longWord =
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaftsmitgliedschaftsausweis';
beforeAll(async () => {
  browser = await startConsoleBrowser(import.meta.url);
  const { platform } = browser;
  await platform.apply({
    agents: [{ slug: 'guide', name: 'Guide' }],
    people: [
      { key: 'long', name: longWord },
      { key: 'layla', name: 'ليلى الخطيب', description: '<p>مرحبا!</p><p>Zweite Zeile</p>' },
    ],
  });
  const [row] = await platform.sql<{ id: number }>(
    `insert into agents.threads (agent_id, thread_key, channel, visitor_id, turn_count)
     select id, 'web:visitor:v:agent:' || id, 'web', 'v', 150 from agents.agents returning id::int as id`,
  );
  thread = row?.id ?? 0;
  await platform.sql(
    `insert into agents.messages (thread_id, turn, note_type, body, html, created_at)
     select $1, turn, 'chat_visitor', 'Word ' || turn, '', now() from generate_series(1, 150) turn`,
    [thread],
  );
  await platform.sql(
    `insert into directory.jobs (id, type, payload, state, attempts, error, finished_at)
     select id, 'directory.strange', '{"conversation_id": 4711}', 'dead', 3, $2, now() from unnest($1::uuid[]) as id`,
    [Array.from({ length: 60 }, () => randomUUIDv7()), 'It was away:\n  in the second line'],
  );
}, provideTimeoutMs);
afterEach(async () => expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(() => browser.stop());

/** Intercepts requests of the page until the test continues them. */
async function hold(page: Page, path: string | RegExp): Promise<Route[]> {
  const held: Route[] = [];
  await page.route(path, (route) => void held.push(route));
  return held;
}

const message = (page: Page) => page.getByLabel('Your message to the visitor');

describe('slow responses in the console (P6)', () => {
  it('waits for a slow response for longer than the refresh interval', async () => {
    const page = await browser.open('root', '/console/nothing');
    await page.clock.install();
    const held = await hold(page, '**/console/api/ops/jobs?*');
    await page.goto(`${browser.platform.baseUrl}/console/jobs?state=dead`);
    await waitFor(() => Promise.resolve(held.length > 0), { what: 'the first question' });
    await page.clock.runFor(25_000);
    expect(held).toHaveLength(1);
    await held[0]?.continue();
    await row(page, 'directory.strange').first().waitFor();
    await page.clock.runFor(11_000);
    await waitFor(() => Promise.resolve(held.length === 2), { what: 'the next question' });
  });

  it('reports a response that ends early', async () => {
    const page = await browser.open('root', '/console/nothing');
    await page.route('**/console/api/ops/jobs?*', (route) =>
      route.fulfill({ contentType: 'application/json', body: '{"items": [' }),
    );
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('alert').getByText('Not loaded').waitFor();
    expect(await page.getByRole('alert').filter({ hasText: 'Not loaded' }).innerText()).toContain(
      'The platform did not answer.',
    );
    expect(await page.locator('.freshness').innerText()).toMatch(/^Not loaded/);
  });

  it('displays the token of a new key even if the user closed the dialog before the response', async () => {
    const page = await browser.open('editor', '/console/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Not to be lost');
    await page.getByLabel('ops:read').check();
    const held = await hold(page, '**/console/api/v1/keys');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await waitFor(() => Promise.resolve(held.length === 1), { what: 'the wish' });
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await held[0]?.continue();
    const first = await page.getByLabel('Token', { exact: true }).inputValue();
    await page.getByRole('button', { name: 'Done' }).click();
    await row(page, 'Not to be lost').getByRole('link').click();
    await page.getByRole('button', { name: 'Rotate' }).click();
    const again = await hold(page, '**/console/api/v1/keys/*/rotate');
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await waitFor(() => Promise.resolve(again.length === 1), { what: 'the second wish' });
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await again[0]?.continue();
    const second = await page.getByLabel('Token', { exact: true }).inputValue();
    expect(second).not.toBe(first);
    expect((await browser.platform.call('GET', '/api/v1/auth/whoami', { token: second })).status).toBe(200);
  });
});

describe('operator draft to a visitor (H5)', () => {
  it('retains the draft when earlier messages are loaded and when the session ends, and retains text typed during sending', async () => {
    const page = await browser.open('operator', `/console/threads/${thread}`);
    await page.getByRole('button', { name: 'Take over' }).click();
    await message(page).fill('Well considered');
    await page.getByRole('button', { name: 'Earlier messages' }).click();
    await row(page, 'Word 1').first().waitFor();
    expect(await message(page).inputValue()).toBe('Well considered');

    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('alert').getByText('Your session has ended.').waitFor();
    await signIn(page, 'operator');
    expect(await message(page).inputValue()).toBe('Well considered');

    const held = await hold(page, '**/message');
    await page.getByRole('button', { name: 'Send' }).click();
    await waitFor(() => Promise.resolve(held.length === 1), { what: 'the message' });
    await message(page).fill('The next one');
    await held[0]?.continue();
    await row(page, 'Well considered').waitFor();
    expect(await message(page).inputValue()).toBe('The next one');
    expect(await page.getByRole('definition').filter({ hasText: '@' }).innerText()).toMatch(
      /^operator-console@example\.org since /,
    );
  });

  it('does not display a draft to another account that signs in afterwards', async () => {
    const page = await browser.open('operator', `/console/threads/${thread}`);
    await message(page).fill('Mine');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, 'root');
    expect(await message(page).inputValue()).toBe('');
  });
});

describe('console page of events (V3)', () => {
  it('does not change while the user pauses it, and loads all newer events afterwards', async () => {
    const page = await browser.open('root', '/console/nothing');
    const token = await browser.login('root');
    const make = async (name: string): Promise<string> =>
      `person ${(await browser.platform.call('POST', '/api/v1/people', { token, json: { name } })).json.person.id}`;
    await page.getByRole('link', { name: 'Events' }).click();
    const happened = row(page, /person \d+/);
    await waitFor(async () => {
      await make('Seen');
      return (await happened.count()) > 0;
    });
    await page.getByRole('button', { name: 'Follow', pressed: true }).click();
    const shown = await happened.count();
    const meanwhile = await make('Meanwhile');
    expect([shown > 0, await happened.count(), await row(page, meanwhile).count()]).toEqual([true, shown, 0]);
    await page.getByRole('button', { name: 'Follow', pressed: false }).click();
    await row(page, meanwhile).waitFor();
    expect(await happened.count()).toBeGreaterThan(shown);
  });
});

describe('two console tabs (S3)', () => {
  it('display the same signed-in account in both tabs', async () => {
    const one = await browser.open('root', '/console/keys');
    const other = await one.context().newPage();
    await other.goto(`${browser.platform.baseUrl}/console/audit`);
    await row(other, 'login').first().waitFor();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await one.getByLabel('Email').waitFor();
    await signIn(other, 'editor');
    await one.getByText('Editor of the console').waitFor();
    await other.getByText('You do not have access').waitFor();
    expect(await one.getByText('Root of the console').count()).toBe(0);
  });
});

describe('list navigation in the console', () => {
  it('preserves filter values from the URL that the form field cannot display', async () => {
    const page = await browser.open('viewer', '/console/jobs?created_after=2026-01-02T03:04:05.678Z');
    await row(page, 'It was away').first().getByText('Only this error').click();
    await page.waitForURL(/error=/);
    await page.getByLabel('Service').selectOption('directory');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/service=directory/);
    await row(page, 'It was away').first().waitFor();
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('error'), searchParams.get('created_after')]).toEqual([
      'It was away:\n  in the second line',
      '2026-01-02T03:04:05.678Z',
    ]);
  });

  it('scrolls to the top on the next page, and restores the scroll position on return', async () => {
    const page = await browser.open('viewer', '/console/jobs?state=dead');
    const link = row(page, 'directory.strange').nth(40).getByRole('link').first();
    await link.scrollIntoViewIfNeeded();
    const place = Number(await page.evaluate('scrollY'));
    expect(place).toBeGreaterThan(500);
    await link.click();
    await focusedHeading(page, 'directory.strange').waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.goBack();
    await waitFor(async () => (await page.evaluate('scrollY')) === place, { what: 'the place in the list' });
    await page.getByRole('link', { name: 'Next page' }).click();
    await focusedHeading(page, 'Jobs').waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
  });

  it('does not move the focus if the user moved it while the page was loading', async () => {
    const page = await browser.open('viewer', '/console/people?q=Donau');
    const held = await hold(page, /\/console\/api\/v1\/people\/\d+$/);
    await row(page, longWord).getByRole('link').click();
    await focusedHeading(page, /^Person \d+$/).waitFor();
    await page.keyboard.press('Tab');
    await waitFor(() => Promise.resolve(held.length > 0));
    await held[0]?.continue();
    await heading(page, longWord).waitFor();
    expect(await page.evaluate('document.activeElement.innerText')).toBe('Refresh');
  });

  it('preserves the layout with a very long word', async () => {
    const page = await browser.open('viewer', '/console/people');
    await row(page, longWord).waitFor();
    expect(
      await page.evaluate(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.list'))`,
      ),
    ).toBe(0);
  });
});

describe('console dialogs', () => {
  it('use different labels for the cancel button and the action, and are no taller than their content', async () => {
    const page = await browser.open('operator', '/console/jobs?state=dead');
    await page.getByRole('button', { name: 'Cancel all that match…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Cancel 60 jobs' }).waitFor();
    expect(await dialog.getByRole('button', { name: /^Cancel/ }).count()).toBe(1);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    for (const field of await dialog.locator('.field').all())
      expect((await field.boundingBox())?.height).toBeLessThan(100);
  });
});

describe('console languages', () => {
  it('formats times and numbers in the language of the pages, regardless of the browser language', async () => {
    for (const locale of ['de-DE', 'ar-EG']) {
      const page = await browser.open('viewer', '/console/audit', { ...desk, locale, timezoneId: 'Europe/Berlin' });
      await page.getByText(/^As of \d+ sec ago$/).waitFor();
      expect(await row(page, 'login').first().getByRole('time').innerText()).toMatch(
        /ago\s+\d\d \w{3} \d{4}, \d\d:\d\d:\d\d CES?T$/,
      );
    }
  });

  it('preserves line breaks of user text, and uses the direction of its script', async () => {
    const page = await browser.open('viewer', '/console/people?q=ليلى');
    await row(page, 'ليلى').getByRole('link').click();
    await heading(page, 'ليلى الخطيب').waitFor();
    const words = page.getByText('Zweite Zeile');
    expect(await words.innerText()).toBe('مرحبا!\nZweite Zeile');
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.words')).unicodeBidi`)).toBe('plaintext');
  });
});
