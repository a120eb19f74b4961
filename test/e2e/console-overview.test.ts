/** The console overview (P1, P6). */
import { randomUUIDv7 } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs, waitFor } from '#libs/product/testing';
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
beforeAll(async () => {
  browser = await startConsoleBrowser(import.meta.url);
}, provideTimeoutMs);
afterEach(async () => expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(() => browser.stop());

const makeDead = (count: number): Promise<unknown> =>
  browser.platform.sql(
    `insert into media.jobs (id, type, payload, state, attempts, error, finished_at)
     select id, 'media.strange', '{}', 'dead', 3, 'Gone', now() from unnest($1::uuid[]) as id`,
    [Array.from({ length: count }, () => randomUUIDv7())],
  );

describe('console overview (P1)', () => {
  it('displays dead and waiting jobs and service readiness first, each number with a link to its list', async () => {
    await makeDead(3);
    const page = await browser.open('viewer', '/console');
    await heading(page, 'Overview').waitFor();
    await waitFor(async () => /3/.test(await page.getByRole('listitem').filter({ hasText: 'Dead jobs' }).innerText()), {
      what: 'the dead jobs',
    });
    for (const service of ['agents', 'api-gateway', 'conversations', 'directory', 'media', 'transcripts'])
      await page
        .getByRole('table', { name: 'Services' })
        .getByRole('row')
        .filter({ hasText: service })
        .getByText('ready', { exact: true })
        .waitFor();
    await row(page, 'media.strange').getByRole('link', { name: '3' }).click();
    await heading(page, 'Jobs').waitFor();
    expect(new URL(page.url()).search).toBe('?state=dead&type=media.strange');
    await row(page, 'Gone').first().waitFor();
    expect(await page.getByRole('row').count()).toBe(4);
  });

  it('draws the history of each value since the page was opened, and refreshes it', async () => {
    const page = await browser.openWithClock('viewer', '/console/overview');
    const plot = page.getByRole('figure').filter({ hasText: 'Jobs per minute' });
    await plot.locator('canvas').waitFor();
    await page
      .getByRole('figure')
      .first()
      .getByText(/^dead \d+$/)
      .waitFor();
    const before = Number((await page.getByRole('figure').first().getByText(/^dead/).innerText()).replace(/\D/g, ''));
    await makeDead(5);
    // Waits for the next automatic refresh and returns whether it contains the new jobs. Services cache their counts
    // for a few seconds.
    const refresh = async (): Promise<boolean> => {
      const answered = page.waitForResponse(/\/console\/api\/ops\/overview/);
      await page.clock.runFor(10_000);
      const { jobs } = (await (await answered).json()) as { jobs: { state: string; count: number }[] };
      return jobs.filter(({ state }) => state === 'dead').reduce((sum, { count }) => sum + count, 0) === before + 5;
    };
    await waitFor(refresh, { intervalMs: 250, what: 'the new dead jobs' });
    await page
      .getByRole('figure')
      .first()
      .getByText(`dead ${before + 5}`)
      .waitFor();
    expect(await plot.getByText(/^died/).innerText()).not.toBe('died 0');
  });

  it('lists for an account without operator rights the pages that it can open', async () => {
    const page = await browser.open('editor', '/console');
    await page.getByRole('alert').getByText('You do not have access').waitFor();
    await page.getByText('Conversations, people and holons are available to every account.').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Conversations' }).click();
    await heading(page, 'Conversations').waitFor();
    expect(await page.getByRole('alert').filter({ hasText: 'You do not have' }).count()).toBe(0);
  });

  it('passes axe and fits a width of 320 px on the overview, in light and dark mode', async () => {
    const page = await browser.open('viewer', '/console', still);
    await page.locator('canvas').first().waitFor();
    expect(await findFaultsOfBothSchemes(page)).toEqual([]);
  });

  it('supports keyboard-only use of the overview', async () => {
    const page = await browser.open('viewer', '/console');
    await page.locator('canvas').first().waitFor();
    await tabTo(page, 'Dead jobs');
    await page.keyboard.press('Enter');
    await heading(page, 'Jobs').waitFor();
    expect(new URL(page.url()).search).toBe('?state=dead');
  });
});
