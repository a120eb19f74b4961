/** The console during a service outage: shows what is missing, and displays it after recovery (P2, P3, P6). */
import { randomUUIDv7 } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs } from '#libs/product/testing';
import { type ConsoleBrowser, findFaults, row, startConsoleBrowser } from './console-browser.ts';

let browser: ConsoleBrowser;
beforeAll(async () => {
  browser = await startConsoleBrowser(import.meta.url, {}, ['api-gateway', 'directory', 'conversations']);
}, provideTimeoutMs);
afterEach(async () => expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(() => browser.stop());

const makeDead = (service: string, count: number): Promise<unknown> =>
  browser.platform.sql(
    `insert into ${service}.jobs (id, type, payload, state, attempts, error, finished_at)
     select id, '${service}.strange', '{}', 'dead', 3, 'While away', now() from unnest($1::uuid[]) as id`,
    [Array.from({ length: count }, () => randomUUIDv7())],
  );

describe('console lists and actions while services are unavailable (P2, P3)', () => {
  it('report unavailable services, and list their rows at the next page or refresh after the services respond', async () => {
    await makeDead('directory', 60);
    await makeDead('media', 2);
    const page = await browser.open('operator', '/console/jobs?error=While+away');
    await page.getByRole('button', { name: 'Every 10 s' }).click();
    const problem = page.getByRole('alert').filter({ hasText: 'Incomplete' });
    await problem.getByText(/^No answer from agents, events, media, transcripts\. Their items are missing/).waitFor();
    expect([await row(page, 'directory.strange').count(), await row(page, 'media.strange').count()]).toEqual([50, 0]);
    expect(await findFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Redrive all that match…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('60 jobs will be changed.').waitFor();
    await dialog.getByText(/^No answer from .*Their items are not counted\.$/).waitFor();
    await page.keyboard.press('Escape');

    await browser.platform.runtime.restart('media');
    await page.getByRole('link', { name: 'Next page' }).click();
    await row(page, 'media.strange').first().waitFor();
    await problem.getByText(/^No answer from agents, events, transcripts\./).waitFor();
    expect([await row(page, 'directory.strange').count(), await row(page, 'media.strange').count()]).toEqual([10, 2]);
    // Only the unavailable services have more rows.
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByRole('alert').getByText('Not loaded', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Jobs' }).click();
    await row(page, 'media.strange').first().waitFor();
  });
});
