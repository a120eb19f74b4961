/** The embedded chat of an agent in a real browser, and the language that the visitor sees (rules/agents#embedded). */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs, waitFor } from '#libs/product/testing';
import { desk, findAccessibilityProblems } from './browser.ts';
import { alert, answerOnce, type ChatBrowser, field, readLog, say, startChatBrowser } from './chat-browser.ts';

let chat: ChatBrowser;
let site: Server;
let friend = '';
let stranger = '';

/** Starts a site with a strict content security policy. */
function startSite(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer((_request, response) => {
      const address = chat.platform.baseUrl;
      response.setHeader('Content-Security-Policy', `default-src 'none'; script-src ${address}; frame-src ${address}`);
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.end(
        `<!doctype html><html lang="de"><title>Tea</title><main><h1>Tea</h1></main><script src="${address}/chat/embed.js" data-agent="garden" data-label="Frag uns" async></script></html>`,
      );
    });
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
let port = 0;

beforeAll(async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  port = (probe.address() as AddressInfo).port;
  await new Promise((resolve) => probe.close(resolve));
  [friend, stranger] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  chat = await startChatBrowser(import.meta.url, { CHAT_EMBED_ORIGINS: `https://www.example.org ${friend}` });
  site = await startSite();
  await chat.platform.apply({
    agents: [
      {
        slug: 'garden',
        name: 'Secret name',
        prompt: 'You are the gardener.',
        infos: {
          chat: { name: 'Ask the garden', logo_url: '/favicon.ico', privacy_url: 'https://www.example.org/privacy' },
          hidden: 'very-secret',
        },
      },
    ],
  });
}, provideTimeoutMs);
afterEach(async () => expect((await chat.endTest()).complaints).toEqual([]));
afterAll(async () => {
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
  await chat.stop();
});

describe('embedded chat on another site', () => {
  it('opens in a frame on another site, in the language of the site, and displays replies', async () => {
    const page = await (await chat.openContext(desk)).newPage();
    await page.goto(friend);
    const button = page.getByRole('button', { name: 'Frag uns' });
    await button.waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
    await button.click();
    const frame = page.frameLocator('iframe[title="Frag uns"]');
    await frame.getByRole('heading', { name: 'Ask the garden' }).waitFor();
    chat.llm.answerWith(() => 'Am **Abend**.');
    await frame.getByRole('textbox', { name: 'Ihre Nachricht an Ask the garden' }).fill('Wann?');
    await frame.getByRole('button', { name: 'Senden' }).click();
    await frame.getByText('Am Abend.').waitFor();
    await page.evaluate('document.body.focus()');
    await button.press('Escape');
    expect([await button.getAttribute('aria-expanded'), await page.locator('iframe').isVisible()]).toEqual([
      'false',
      false,
    ]);
    await button.click();
    await frame.getByText('Am Abend.').waitFor();
    // Key events inside the frame do not reach the site.
    await frame.getByRole('textbox').press('Escape');
    await page.locator('iframe').waitFor({ state: 'hidden' });
    await button.and(page.locator(':focus')).waitFor();
  });

  it('opens in frames only on sites that CHAT_EMBED_ORIGINS lists', async () => {
    const page = await (await chat.openContext(desk)).newPage();
    await page.goto(stranger);
    await page.getByRole('button', { name: 'Frag uns' }).click();
    await waitFor(() => chat.complaints.length > 0, { what: 'the refused frame' });
    expect(await page.frameLocator('iframe').getByRole('heading', { name: 'Ask the garden' }).count()).toBe(0);
    expect(chat.complaints.splice(0).join()).toMatch(/frame-ancestors/);

    const { headers } = await fetch(`${chat.platform.baseUrl}/chat/garden`);
    expect(headers.get('content-security-policy')).toContain(
      `frame-ancestors 'self' https://www.example.org ${friend}`,
    );
    for (const path of ['/', '/chat/nobody']) {
      const answer = await fetch(`${chat.platform.baseUrl}${path}`);
      expect(answer.headers.get('content-security-policy')).toContain(`frame-ancestors 'none'`);
    }
    const script = await fetch(`${chat.platform.baseUrl}/chat/embed.js`);
    expect([script.status, script.headers.get('cross-origin-resource-policy')]).toEqual([200, 'cross-origin']);
  });
});

describe('chat page of an agent with public settings', () => {
  it('displays the name, logo and privacy link of the agent, and no other configuration', async () => {
    const page = await chat.openPage(desk, '/chat/garden');
    expect(await page.title()).toBe('Ask the garden · Chat');
    expect(await page.evaluate(`document.querySelector('img.mark').decode().then(() => true)`)).toBe(true);
    const link = page.getByRole('link', { name: 'Privacy' });
    expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([
      'https://www.example.org/privacy',
      'noopener noreferrer',
    ]);
    expect(await page.content()).not.toMatch(/Secret name|gardener|very-secret/);
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });
});

describe('language of the chat page', () => {
  it.each([
    [
      'de-AT',
      'Ihre Nachricht an Welcome guide',
      'Sie: Hallo',
      'Neu beginnen',
      'Gerade ist keine Antwort möglich. Ihre Nachricht ist noch da.',
    ],
    [
      'fr',
      'Votre message à Welcome guide',
      'Vous: Hallo',
      'Recommencer',
      'Aucune réponse n’est possible pour le moment. Votre message est toujours là.',
    ],
    [
      'es-ES',
      'Su mensaje para Welcome guide',
      'Usted: Hallo',
      'Empezar de nuevo',
      'Ahora mismo no es posible responder. Su mensaje sigue aquí.',
    ],
  ])('displays all text in the language %s', async (locale, label, said, again, problem) => {
    const page = await chat.openPage({ ...desk, locale });
    expect(await page.evaluate('document.documentElement.lang')).toBe(locale.slice(0, 2));
    chat.llm.answerWith(() => 'Hallo auch');
    const message = page.getByRole('textbox', { name: label });
    await message.fill('Hallo');
    await message.press('Enter');
    await page.locator('.message.agent:not(.typing, .writing)').waitFor();
    expect(await readLog(page)).toEqual([said, 'Welcome guide: Hallo auch']);
    expect(await page.locator('#start-over').innerText()).toBe(again);
    await answerOnce(page, 503, { 'Retry-After': '1' });
    await message.fill('Noch etwas');
    await message.press('Enter');
    await alert(page).getByText(problem).waitFor();
    expect(await findAccessibilityProblems(page)).toEqual([]);
  });

  it('uses the language from the URL', async () => {
    const page = await chat.openPage({ ...desk, locale: 'fr' }, '/chat/welcome-guide?lang=en');
    await say(page, 'Hello');
    expect(await field(page).count()).toBe(1);
  });
});
