/** The editor pages: people, holons, conversations with transcript, recording and pipeline metadata (P6). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs, type RealtimeKitServer, startRealtimeKit } from '#libs/product/testing';
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
import { applyDemo, createConversation, type Demo, eventually } from './test-platform.ts';

/** User text is not interpreted as markup. */
const hostile = '<img src=x onerror="document.title=`taken`">';

let provider: RealtimeKitServer;
let browser: ConsoleBrowser;
let demo: Demo;
let conversation: number;
beforeAll(async () => {
  provider = await startRealtimeKit();
  browser = await startConsoleBrowser(import.meta.url, {
    REALTIMEKIT_BASE_URL: provider.baseUrl,
    REALTIMEKIT_API_TOKEN: provider.apiToken,
  });
  const { platform } = browser;
  demo = await applyDemo(platform, 'look', [
    { slug: 'held', title: 'Held' },
    { slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config: {} },
  ]);
  const description = `<p>Of the <b>north</b></p>${hostile}`;
  await platform.apply({
    people: [{ key: 'hostile', name: `Mallory ${hostile}`, description, contact: { phone: hostile } }],
  });
  conversation = (await createConversation(platform, demo, '2026-05-01T09:00:00Z')).id;
  provider.addSession({
    id: 's',
    meetingId: 'm',
    startedAt: '2026-05-01T09:50:00.000Z',
    endedAt: '2026-05-01T11:10:00.000Z',
  });
  const said = Array.from({ length: 230 }, (_value, index) => ({
    startTime: 600_000 + index * 1_000,
    endTime: 600_900 + index * 1_000,
    sentence: index === 0 ? `The river belongs to all ${hostile}` : `Sentence number ${index}`,
    peerData: { id: 'p', userId: 'u', displayName: 'Ada', cpi: 'c-ada' },
  }));
  provider.setArtifact('s', { bytes: JSON.stringify(said), contentType: 'application/json' });
  const path = `/api/coherence/conversations/${conversation}`;
  await platform.call('POST', `${path}/enter-coherence`, {
    json: {
      meetingId: 'm',
      participants: [{ customParticipantId: 'c-ada', personId: demo.ada, displayName: 'Ada' }],
      conversationStartedAt: '2026-05-01T10:00:00Z',
      captureEndedAt: '2026-05-01T11:00:00Z',
    },
  });
  await platform.call('POST', `${path}/recorded`, { headers: { 'idempotency-key': 'once' } });
  const token = await browser.login('root');
  await eventually(async () => {
    const found = await platform.call('GET', '/api/coherence/transcripts/search?q=river', { token });
    expect(found.json.items).toHaveLength(1);
  });
}, provideTimeoutMs);
afterEach(async () => expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(async () => {
  await browser.stop();
  await provider.stop();
});

describe('console pages of people and holons (P6; rules/console#what-people-wrote)', () => {
  it('find a person by name, with links to memberships and holons and back', async () => {
    const page = await browser.open('editor', '/console/people');
    await page.getByLabel('Name').fill('ada');
    await page.getByLabel('Name').press('Enter');
    await row(page, 'ada-look@example.org').getByRole('link').click();
    await heading(page, 'Ada').waitFor();
    await page.getByText('Memberships (0)').waitFor();
    await page.getByRole('link', { name: 'Holons' }).click();
    await page.getByLabel('Name or description').fill('event look');
    await page.getByLabel('Name or description').press('Enter');
    await row(page, 'event-look').getByRole('link').click();
    await heading(page, 'Event look').waitFor();
    await page.goBack();
    await page.goBack();
    expect(new URL(page.url()).pathname).toBe('/console/holons');
    await page.goto(`${browser.platform.baseUrl}/console/people/2147483647`);
    await page.getByRole('alert').getByText('Not found', { exact: true }).waitFor();
  });

  it.each([
    ['people?q=ada', 'coherence people list --q ada --limit 50 --cursor 0 --json', 'Ada'],
    [
      'holons?class=event&q=look',
      'coherence holons list --q look --class event --limit 50 --cursor 0 --json',
      'Event look',
    ],
  ])('%s displays the admin CLI command that lists the same items', async (path, command, name) => {
    const page = await browser.open('root', `/console/${path}`);
    await page.getByText('Copy as command').click();
    expect(await page.locator('.command code').innerText()).toBe(command);
    const words = command
      .split(' ')
      .slice(1)
      .filter((word) => word !== '--json');
    await row(page, name).first().waitFor();
    const shown = await page.getByRole('table').getByRole('link').allInnerTexts();
    const listed: { name: string }[] = await browser.platform.ask(...words);
    expect(listed.map((item) => item.name)).toEqual(shown);
    expect(shown).toContain(name);
  });

  it('display user text as plain text, without running scripts or active links', async () => {
    const page = await browser.open('editor', '/console/people?q=mallory');
    await row(page, 'Mallory').getByRole('link').click();
    await heading(page, `Mallory ${hostile}`).waitFor();
    await page.getByText('Of the north').waitFor();
    expect([await page.locator('main img').count(), await page.title()]).toEqual([
      0,
      expect.stringContaining('Mallory'),
    ]);
    const links = await page
      .locator('main a')
      .evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''));
    expect(links.filter((href) => !href.startsWith('/console'))).toEqual([]);
  });
});

describe('console pages of conversations (P6)', () => {
  it('find a conversation by its transcript, and display its people, transcript and pipeline results', async () => {
    const page = await browser.open('root', '/console/conversations');
    await page.getByLabel('Search transcripts').fill('river');
    await page.getByLabel('Search transcripts').press('Enter');
    await page.locator('mark').getByText('river').waitFor();
    await row(page, 'The river').getByRole('link').click();
    await page.getByText('Step', { exact: true }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Ada' }).waitFor();
    await page.getByText('No recording yet.').waitFor();
    await page.getByRole('button', { name: 'Show transcript' }).click();
    const said = page.getByRole('list', { name: /utterances$/ }).getByRole('listitem');
    await said.first().getByText(`The river belongs to all ${hostile}`).waitFor();
    expect([await said.count(), await page.locator('main img').count()]).toEqual([200, 0]);
    await page.getByRole('button', { name: 'More' }).click();
    await said.getByText('Sentence number 229').waitFor();
    expect([await said.count(), await page.getByRole('button', { name: 'More' }).count()]).toEqual([230, 0]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'WebVTT' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`conversation-${conversation}.vtt`);
    expect(await page.getByLabel('Operational data (config)').innerText()).toContain('enter-coherence');
    await page.getByRole('link', { name: 'Conversation jobs' }).click();
    await row(page, 'transcripts.transcript-import').first().waitFor();
  });

  it('open a conversation by its id, and report an unknown id', async () => {
    const page = await browser.open('editor', '/console/conversations');
    await page.getByLabel('Conversation number').fill('2147483647');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('alert').getByText('Not found', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Show transcript' }).count()).toBe(0);
  });
});

describe('accessibility of the pages for editors (P6)', () => {
  it('pass axe and fit a width of 320 px as an editor, in light and dark mode', async () => {
    const page = await browser.open('editor', '/console/people', still);
    await row(page, 'Mallory').waitFor();
    expect(await findFaultsOfBothSchemes(page)).toEqual([]);
    const paths = [
      `people/${demo.ada}`,
      'holons',
      `holons/${demo.event}`,
      'conversations?q=river',
      `conversations/${conversation}`,
    ];
    for (const path of paths) {
      await page.goto(`${browser.platform.baseUrl}/console/${path}`);
      await page.getByText(/^As of/).waitFor();
      if (path.startsWith('conversations/')) {
        await page.getByRole('button', { name: 'Show transcript' }).click();
        await page.getByRole('listitem').getByText('The river').waitFor();
      }
      expect([path, await findFaultsOfBothSchemes(page)]).toEqual([path, []]);
    }
  });

  it('support keyboard-only use by an editor', async () => {
    const page = await browser.open('editor', '/console/conversations');
    await tabTo(page, 'Search transcripts');
    await page.keyboard.type('river');
    await page.keyboard.press('Enter');
    await page.locator('mark').first().waitFor();
    await tabTo(page, /^Conversation of/);
    await page.keyboard.press('Enter');
    await tabTo(page, 'Show transcript');
    await page.keyboard.press('Enter');
    await page.getByRole('listitem').getByText('The river').waitFor();
    await tabTo(page, 'People', 'Shift+Tab');
    await page.keyboard.press('Enter');
    await focusedHeading(page, 'People').waitFor();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
  });
});
