/** Checks that apply to all console pages, and runs the displayed commands with the admin CLI (P6). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs, startWebhookReceiver, type WebhookReceiver } from '#libs/product/testing';
import { bookingOutcomes } from '#services/conversations';
import { updateOutcomes } from '#services/agents';
import type { Page } from 'playwright-core';
import { isRelease, sampled } from '../drill.ts';
import { type ConsoleBrowser, findFaultsOfBothSchemes, startConsoleBrowser, still } from './console-browser.ts';
import { type ConsoleData, consolePages, fillConsole } from './console-data.ts';

let browser: ConsoleBrowser;
/** Superuser page shared by all tests, because signing in is slow. */
let page: Page;
let receiver: WebhookReceiver;
let folder: string;
let data: ConsoleData;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'console-'));
  receiver = await startWebhookReceiver();
  browser = await startConsoleBrowser(import.meta.url, {
    WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}`,
    AGENT_KNOWLEDGE: 'reviewed',
  });
  browser.platform.logInCli(await browser.login('root'));
  data = await fillConsole(browser.platform, await browser.login('editor'), receiver, folder);
  page = await browser.open('root', '/console/keys', { ...still, timezoneId: 'UTC' });
}, provideTimeoutMs);
afterEach(() => expect(browser.complaints).toEqual([]));
afterAll(async () => {
  expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] });
  await browser.stop();
  await receiver.stop();
  await rm(folder, { recursive: true, force: true });
});

async function visit(path: string, shown: string | RegExp): Promise<void> {
  await page.goto(`${browser.platform.baseUrl}/console/${path}`);
  await page.getByText(shown).filter({ visible: true }).first().waitFor();
}

/** Returns the commands shown on a page or dialog, as arguments for the admin CLI. */
async function readCommands(scope: { locator: Page['locator'] }): Promise<string[][]> {
  const lines = await scope.locator('.command code').allTextContents();
  return lines.map((line) => {
    const words = [...line.matchAll(/(?:'(?:[^']|'\\'')*'|[^\s'])+/g)].map(([word]) =>
      word.replaceAll(String.raw`'\''`, "'"),
    );
    expect(words[0]).toBe('coherence');
    return words.slice(1).map((word) => (/^'[^]*'$/.test(word) ? word.slice(1, -1) : word));
  });
}

function execute(words: readonly string[]): Promise<any> {
  return browser.platform.ask(
    ...words.filter((word) => word !== '--json').map((word) => word.replace(/^person-/, `${folder}/person-`)),
  );
}

const nameOf = ({ id, slug, conversation_id: about, conversation, segment, membership_id: member }: any): string =>
  segment === undefined ? String(id ?? slug ?? about ?? member) : `${conversation.id}/${segment.index}`;

/** In the smoke form only pages that no other test checks. */
const checked = ['threads', 'one thread', 'events', 'endpoints', 'one endpoint'];
const checkedPages = consolePages.filter(([name]) => isRelease || checked.includes(name));

describe('accessibility of every console page (P6)', () => {
  it('every console page passes axe and fits a width of 320 px, in light and dark mode', async () => {
    for (const [name, path, shown] of checkedPages) {
      await visit(path(data), shown);
      expect([name, await findFaultsOfBothSchemes(page)]).toEqual([name, []]);
    }
  });

  it.each(sampled(consolePages, { every: 4 }))(
    '%s: all controls are reachable by keyboard in page order',
    async (_name, path, shown) => {
      await visit(path(data), shown);
      // Disables automatic refresh so that nothing changes during the checks; once for all pages.
      const refreshes = page.getByRole('button', { name: 'Every 10 s', pressed: true });
      if ((await refreshes.count()) > 0) await refreshes.click();
      // Number of interactive elements: links, buttons, fields, summaries, scroll areas.
      const count = Number(
        await page.evaluate(`(() => {
        const all = [...document.querySelectorAll('main :is(a[href], button, input, select, textarea, summary, [tabindex="0"], audio, video)')]
          .filter((item) => item.checkVisibility());
        all.forEach((item, place) => item.dataset.place = place);
        document.querySelector('main').focus();
        return all.length;
      })()`),
      );
      const reached: number[] = [];
      for (let presses = 0; presses < 3 * count + 30 && reached.at(-1) !== count - 1; presses++) {
        await page.keyboard.press('Tab');
        const place = await page.evaluate(`document.activeElement?.closest('[data-place]')?.dataset.place ?? null`);
        if (place !== null && Number(place) !== reached.at(-1)) reached.push(Number(place));
      }
      expect(reached).toEqual(Array.from({ length: count }, (_item, place) => place));
    },
  );

  it.each(
    sampled(
      [
        ['jobs', 'Error contains', 'away', 'error'],
        ['webhooks', 'Text in the body', 'it’s', 'q'],
        ['pipelines', 'Step (slug)', 'import', 'step'],
        ['conversations', 'Search transcripts', 'river', 'q'],
        ['threads', 'Agent (slug)', 'guide', 'agent'],
        ['people', 'Name', 'ada', 'q'],
        ['holons', 'Class', 'event', 'class'],
        ['events', 'Types', 'conversation.*', 'types'],
        ['endpoints', 'Account id', '1', 'account_id'],
        ['audit', 'Target', 'account:1', 'target'],
        ['keys', 'Account id', '1', 'account_id'],
      ] as const,
      { every: 3 },
    ),
  )('%s: all filters are usable by keyboard', async (name, label, text, parameter) => {
    await page.goto(`${browser.platform.baseUrl}/console/${name}`);
    await page.getByLabel(label, { exact: true }).focus();
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.has(parameter));
    await page.getByRole('button', { name: 'Show all' }).waitFor();
    expect(await page.evaluate('document.activeElement.labels?.[0]?.textContent')).toBe(label);
    expect(new URL(page.url()).searchParams.get(parameter)).toBe(text);
  });
});

describe('admin CLI commands on console pages (P6; rules/console#commands)', () => {
  /** Lists by page name; a cursor after the first item opens the second page of each list. */
  const behind: Readonly<Record<string, string>> = {
    jobs: 'ops/jobs',
    webhooks: 'ops/webhooks',
    pipelines: 'ops/pipelines',
    threads: 'ops/threads',
    agents: 'ops/agents',
    audit: 'ops/audit',
  };

  it.each(sampled(consolePages, { every: 3 }))(
    '%s: each displayed admin CLI command runs and returns the same items',
    async (name, path, shown) => {
      const address = path(data);
      const addresses = [address];
      const api = behind[name];
      if (api !== undefined) {
        const query = address.split('?')[1] ?? '';
        const first = await browser.platform.call('GET', `/api/${api}?${query}&limit=1`, {
          token: await browser.login('root'),
        });
        expect(first.json.next).toEqual(expect.any(String));
        addresses.push(`${address}${query === '' ? '?' : '&'}cursor=${first.json.next}`);
      } else if (/^(?:people|holons|endpoints|keys)$/.test(name))
        addresses.push(`${address}${address.includes('?') ? '&' : '?'}offset=1`);
      for (const each of addresses) {
        const lists: string[][] = [];
        const requests: URL[] = [];
        page.on('response', async (response) => {
          const url = new URL(response.url());
          if (!url.pathname.startsWith('/console/api/')) return;
          requests.push(url);
          const { items } = (await response.json().catch(() => ({}))) as { items?: unknown[] };
          if (items !== undefined) lists.push(items.map(nameOf));
        });
        await visit(each, each === address ? shown : 'Copy as command');
        if (name === 'one conversation') await page.getByRole('button', { name: 'Show transcript' }).click();
        await page.locator('.command').first().waitFor({ state: 'attached' });
        // Commands that change something are run after those that display.
        const commands = (await readCommands(page)).toSorted(
          (one, other) => Number(one[1] === 'test') - Number(other[1] === 'test'),
        );
        for (const words of commands) {
          if (words[0] === 'events') {
            expect(await browser.platform.cli(...words, '--cursor', '', '--limit', '1')).toMatchObject({ code: 0 });
            continue;
          }
          const result = await execute(words);
          if (
            Array.isArray(result) &&
            ['list', 'search', 'deliveries'].includes(words[1] ?? '') &&
            words[0] !== 'notes'
          )
            expect([each, words.join(' '), result.map(nameOf)]).toEqual([
              each,
              words.join(' '),
              lists.findLast((list) => list.length > 0) ?? [],
            ]);
        }
        expect(commands.length).toBeGreaterThan(0);
        // Checks that pages request at most 200 rows.
        for (const { searchParams } of requests)
          expect(Number(searchParams.get('limit') ?? 0)).toBeLessThanOrEqual(200);
        page.removeAllListeners('response');
      }
    },
  );

  const press = (name: string | RegExp) => page.getByRole('main').getByRole('button', { name }).first().click();
  /** The dialogs: each with its page, the steps that open it, and the expected output of its command. */
  const dialogs: readonly (readonly [string, () => string, () => Promise<unknown>, RegExp | undefined])[] = [
    ['redriving one', () => `jobs/media/${data.other}`, () => press('Redrive'), /^jobs redrive /],
    ['giving one up', () => `jobs/media/${data.job}`, () => press('Cancel'), /^jobs discard /],
    ['replaying one', () => `webhooks/${data.receipt}`, () => press('Replay'), /^webhooks replay \d+ --json$/],
    [
      'redriving all of a filter',
      () => 'jobs?error=away',
      () => press(/^Redrive all/),
      /^jobs redrive --error away --json$/,
    ],
    ['redriving all dead ones', () => 'jobs?state=dead', () => press(/^Redrive all/), /^jobs redrive --all --json$/],
    ['redriving queued ones', () => 'jobs?state=queued', () => press(/^Redrive all/), undefined],
    ['redriving cancelled ones', () => 'jobs?state=cancelled&type=x.y', () => press(/^Redrive all/), undefined],
    ['cancelling succeeded ones', () => 'jobs?state=succeeded', () => press(/^Cancel all/), undefined],
    [
      'cancelling queued ones',
      () => 'jobs?state=queued&type=x.y',
      () => press(/^Cancel all/),
      /^jobs cancel --type x.y --state queued --json$/,
    ],
    ['cancelling of any state', () => 'jobs?type=x.y', () => press(/^Cancel all/), /^jobs cancel --type x.y --json$/],
    [
      'giving dead ones up',
      () => 'jobs?state=dead&type=x.y',
      () => press(/^Cancel all/),
      /^jobs discard --type x.y --json$/,
    ],
    ['cancelling one', () => `jobs/media/${data.queued}`, () => press('Cancel'), /^jobs cancel /],
    [
      'replaying all of a filter',
      () => 'webhooks?kind=booking',
      () => press(/^Replay all/),
      /^webhooks replay .*--limit 20000 --json$/,
    ],
    ['replaying what cannot be', () => 'webhooks?kind=booking&outcome=answered', () => press(/^Replay all/), undefined],
    [
      'replaying messages of a person',
      () => 'webhooks?kind=telegram&person_id=1',
      () => press(/^Replay all/),
      undefined,
    ],
    ['retrying a pipeline', () => 'pipelines', () => retry(), /^pipelines retry /],
    ['approving a sentence', () => 'agents/guide', () => press(/^Approve/), /^agents knowledge approve guide /],
    ['rejecting a sentence', () => 'agents/guide', () => press(/^Reject/), /^agents knowledge reject guide /],
    [
      'making a key',
      () => 'keys',
      () => fillKey(),
      /^keys create --account \d+ --name 'it'\\''s -x' --scope ops:read --json$|^keys create --account/,
    ],
    ['rotating a key', () => `keys/${data.key}`, () => rotate(), /^keys rotate \S+ --overlap-seconds 3600 --json$/],
    ['revoking a key', () => `keys/${data.key}`, () => press('Revoke'), /^keys revoke /],
    [
      'redelivering an event',
      () => `endpoints/${data.endpoint}`,
      () => press(/^Redeliver/),
      /^endpoints redeliver \d+ \S+ --json$/,
    ],
    [
      'recovering an endpoint',
      () => `endpoints/${data.endpoint}`,
      () => recover(),
      /^endpoints recover \d+ --since 2026-01-01T00:00:00.000Z --json$/,
    ],
    [
      'disabling an endpoint',
      () => `endpoints/${data.endpoint}`,
      () => press('Disable'),
      /^endpoints disable \d+ --yes --json$/,
    ],
    ['enabling an endpoint', () => `endpoints/${data.endpoint}`, () => press('Enable'), /^endpoints enable /],
  ];
  const fillKey = async (): Promise<void> => {
    await press('Create key');
    await page.getByLabel('Name').fill("it's -x");
    await page.getByLabel('ops:read').check();
    expect(await readCommands(page.getByRole('dialog'))).toEqual([]);
    await page
      .getByRole('dialog')
      .getByLabel(/^Account id/)
      .fill(String(data.account));
  };
  const retry = async (): Promise<void> => {
    await browser.platform.sql(
      `update transcripts.jobs set state = 'dead', error = 'Gone', finished_at = now() where type = 'transcripts.transcript-import'`,
    );
    await page.reload();
    await press(/^Retry conversation/);
  };
  const rotate = async (): Promise<void> => {
    await press('Rotate');
    await page.getByLabel('Overlap with the old secret').selectOption('1 hour');
  };
  const recover = async (): Promise<void> => {
    await press('Recover');
    await page.getByLabel('Since').fill('2026-01-01T00:00');
  };

  // The last two dialogs depend on each other, so both are always tested.
  it.each([...sampled(dialogs.slice(0, -2), { every: 3 }), ...dialogs.slice(-2)])(
    '%s displays an equivalent admin CLI command, or none if there is nothing to change',
    async (_name, path, open, expected) => {
      await page.goto(`${browser.platform.baseUrl}/console/${path()}`);
      await open();
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      if (expected === undefined) {
        await dialog.getByText('No matching items can be changed.').waitFor();
        expect(await readCommands(dialog)).toEqual([]);
        return;
      }
      await dialog.locator('.command').waitFor();
      const [line = ''] = await dialog.locator('.command code').allTextContents();
      expect(line.replace('coherence ', '')).toMatch(expected);
      const [words = []] = await readCommands(dialog);
      await execute(words);
    },
  );

  it('the outcome filter contains every outcome of a webhook', async () => {
    await page.goto(`${browser.platform.baseUrl}/console/webhooks`);
    const options = page.getByLabel('Outcome').locator('option');
    await options.first().waitFor({ state: 'attached' });
    const offered = await options.allTextContents();
    expect(new Set(offered.slice(1))).toEqual(new Set([...bookingOutcomes, ...updateOutcomes]));
  });
});
