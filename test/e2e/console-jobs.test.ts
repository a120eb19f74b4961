/** The job pages: filter, view, redrive and cancel, with one or two operators (P2, P3, P6). */
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

/** Creates dead jobs; their payload is invalid, so every redrive fails again. */
async function makeDead(count: number, error: string): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUIDv7());
  await browser.platform.sql(
    `insert into media.jobs (id, type, payload, state, attempts, error, finished_at)
     select id, 'media.strange', '{"conversation_id": 42, "api_token": "not to be seen"}', 'dead', 3, $2, now() from unnest($1::uuid[]) as id`,
    [ids, error],
  );
  return ids;
}
const countDead = async (ids: readonly string[]): Promise<number> =>
  (
    await browser.platform.sql(
      `select 1 from media.jobs where id = any($1::uuid[]) and state = 'dead' and attempts = 3`,
      [ids],
    )
  ).length;

describe('console pages of jobs (P2, P3; rules/console#acting-on-many)', () => {
  it('find and redrive 10,000 dead jobs with one error in three actions, and display count, result and remaining jobs', async () => {
    const ids = await makeDead(10_000, 'The store was away: "bucket" <b>gone</b>');
    await makeDead(3, 'Another error');
    const page = await browser.open('operator', '/console/jobs?state=dead');
    await row(page, 'The store was away').first().getByRole('link', { name: 'Only this error' }).click();
    await waitFor(() =>
      Promise.resolve(new URL(page.url()).searchParams.get('error') === 'The store was away: "bucket" <b>gone</b>'),
    );
    await page.getByRole('button', { name: 'Redrive all that match…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Redrive all that match?' });
    await dialog.getByText('10,000 jobs will be changed.').waitFor();
    expect(await countDead(ids)).toBe(10_000);
    await dialog.getByText('Copy as command').click();
    expect(await dialog.locator('.command code').innerText()).toBe(
      `coherence jobs redrive --error 'The store was away: "bucket" <b>gone</b>' --json`,
    );
    await dialog.getByRole('button', { name: 'Redrive 10,000 jobs' }).click();
    await dialog.getByText('10,000 jobs queued again.').waitFor({ timeout: 60_000 });
    await dialog.getByText('10,000 waiting, 0 succeeded, 0 failed again.').waitFor();
    expect(await countDead(ids)).toBe(0);
  });

  it('report which redriven jobs failed again, also with another error, and do not count them as completed', async () => {
    const ids = await makeDead(15, 'Fails for ever');
    const page = await browser.open('operator', '/console/jobs?error=Fails+for+ever');
    await page.getByRole('button', { name: 'Redrive all that match…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Redrive 15 jobs' }).click();
    await dialog.getByText('15 waiting, 0 succeeded, 0 failed again.').waitFor();
    const end = `update media.jobs set state = $2, finished_at = now(), error = 'Another one' where id = any($1::uuid[])`;
    await browser.platform.sql(end, [ids.slice(0, 12), 'dead']);
    await browser.platform.sql(end, [ids.slice(12), 'succeeded']);
    await dialog.getByText('15 finished: 3 succeeded, 12 failed again.').waitFor();
    expect(await dialog.getByRole('progressbar', { name: 'Succeeded' }).getAttribute('value')).toBe('3');
  });

  it('redrive a job once when two operators act concurrently, and inform the second operator', async () => {
    const ids = await makeDead(20, 'Twice at once');
    const [first, second] = await Promise.all([
      browser.open('operator', '/console/jobs?error=Twice+at+once'),
      browser.open('root', '/console/jobs?error=Twice+at+once'),
    ]);
    for (const page of [first, second]) {
      await page.getByRole('button', { name: 'Redrive all that match…' }).click();
      await page.getByText('20 jobs will be changed.').waitFor();
    }
    await Promise.all([first, second].map((page) => page.getByRole('button', { name: 'Redrive 20 jobs' }).click()));
    const results = await Promise.all(
      [first, second].map(async (page) => {
        const result = page.getByRole('dialog').locator('strong');
        await result.waitFor();
        return result.innerText();
      }),
    );
    expect(results.toSorted((a, b) => a.localeCompare(b))).toEqual([
      '20 jobs queued again.',
      'No items were left to change. Another operator has changed them already.',
    ]);
    expect(await countDead(ids)).toBe(0);
    const { body } = await browser.platform.client.listAudit(
      { query: { action: 'jobs.redrive', limit: 200 } },
      { token: await browser.login('root') },
    );
    expect(body.items.filter(({ changes }) => JSON.stringify(changes).includes('"error":{"length":13}'))).toHaveLength(
      1,
    );
  });

  it('reject a redrive by a viewer with the reason, and change nothing', async () => {
    const [id = ''] = await makeDead(1, 'Not for viewers');
    const page = await browser.open('viewer', '/console/jobs?error=Not+for+viewers');
    await page.getByRole('button', { name: 'Redrive all that match…' }).click();
    await page
      .getByRole('dialog')
      .getByRole('alert')
      .getByText(/^You may not do this\. .*ops_operators/)
      .waitFor();
    expect(await page.getByRole('button', { name: /^Redrive \d/ }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await row(page, 'Not for viewers').getByRole('link', { name: 'media.strange' }).click();
    await heading(page, 'media.strange').waitFor();
    await page.getByRole('button', { name: 'Redrive', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('You may not do this.').waitFor();
    expect(await countDead([id])).toBe(1);
  });

  it('display one job without secrets, discard it and queue it again', async () => {
    const [id = ''] = await makeDead(1, 'Looked at');
    const page = await browser.open('operator', `/console/jobs/media/${id}`);
    await page.getByText('Looked at').waitFor();
    const payload = await page.getByLabel('Payload').innerText();
    expect([
      payload.includes('"conversation_id": 42'),
      payload.includes('[redacted]'),
      payload.includes('not to be seen'),
    ]).toEqual([true, true, false]);
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('cancelled', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Redrive', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive' }).click();
    await waitFor(
      async () =>
        (await browser.platform.sql(`select 1 from media.jobs where id = $1 and generation > 0`, [id])).length === 1,
      {
        what: 'the job in its next life',
      },
    );
    await page.goto(`${browser.platform.baseUrl}/console/jobs/media/${randomUUIDv7()}`);
    await page.getByRole('alert').getByText('Not found').waitFor();
  });

  it('require a filter for bulk actions, and request at most 200 jobs per page', async () => {
    const page = await browser.open('operator', '/console/jobs');
    const asked = page.waitForRequest(/\/console\/api\/ops\/jobs\?/);
    await page.getByRole('button', { name: 'Refresh' }).click();
    expect(Number(new URL((await asked).url()).searchParams.get('limit'))).toBeLessThanOrEqual(200);
    await page.getByText('Set a filter to change all matching jobs.').waitFor();
    expect(await page.getByRole('button', { name: /all that match/ }).count()).toBe(0);
  });
});

describe('accessibility of the console pages of jobs (P6)', () => {
  it('pass axe and fit a width of 320 px on the pages of jobs, in light and dark mode', async () => {
    const [id = ''] = await makeDead(2, `A long error ${'that goes on '.repeat(20)} ${'x'.repeat(200)}`);
    const page = await browser.open('operator', '/console/jobs?error=A+long+error', still);
    await row(page, 'A long error').first().waitFor();
    expect(await findFaultsOfBothSchemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel all that match…' }).click();
    await page.getByText('No matching items can be changed.').waitFor();
    expect(await findFaultsOfBothSchemes(page)).toEqual([]);
    await page.goto(`${browser.platform.baseUrl}/console/jobs/media/${id}`);
    await page.getByLabel('Payload').waitFor();
    expect(await findFaultsOfBothSchemes(page)).toEqual([]);
  });

  it('support keyboard-only use of the pages of jobs', async () => {
    const ids = await makeDead(2, 'By keyboard');
    const page = await browser.open('operator', '/console/jobs');
    await tabTo(page, 'Error contains');
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    await tabTo(page, /^Redrive all that match/);
    await page.keyboard.press('Enter');
    await page.getByText('2 jobs will be changed.').waitFor();
    await tabTo(page, 'Redrive 2 jobs');
    await page.keyboard.press('Enter');
    await page.getByText('2 jobs queued again.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await countDead(ids)).toBe(0);
    expect(await page.evaluate('document.activeElement.innerText')).toMatch(/^Redrive all that match/);
  });
});
