/** The pages of webhook endpoints with deliveries and attempts, and of live events (P6; V3, V5, V11). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideTimeoutMs, startWebhookReceiver, waitFor, type WebhookReceiver } from '#libs/product/testing';
import { type ConsoleBrowser, findFaults, heading, row, startConsoleBrowser } from './console-browser.ts';

let browser: ConsoleBrowser;
let receiver: WebhookReceiver;
let id: number;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  const services = ['api-gateway', 'directory', 'conversations', 'events'];
  browser = await startConsoleBrowser(
    import.meta.url,
    { WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}` },
    services,
  );
  const made = await browser.platform.call('POST', '/api/v1/webhook-endpoints', {
    token: await browser.login('editor'),
    json: { url: receiver.url('/archive'), description: 'Archive' },
  });
  id = made.json.endpoint.id;
}, provideTimeoutMs);
afterEach(async () => expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(async () => {
  await browser.stop();
  await receiver.stop();
});

describe('console pages of endpoints (P6; V5, V11)', () => {
  it('open an endpoint, send a test event, display its attempts, and redeliver an event', async () => {
    const page = await browser.open('editor', '/console/endpoints');
    await row(page, '/archive').getByRole('link').click();
    await heading(page, `Endpoint ${id}`).waitFor();
    receiver.answer('/archive', 500);
    await page.getByRole('button', { name: 'Send a test' }).click();
    await waitFor(() => receiver.received.length === 1);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await row(page, receiver.received[0]?.id ?? '')
      .getByText('500')
      .waitFor();
    receiver.answer('/archive', 204);
    await page.getByRole('button', { name: /^Redeliver/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await waitFor(() => receiver.received.length >= 2);
    expect(receiver.received[1]?.id).toBe(receiver.received[0]?.id);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await row(page, 'delivered').getByText('204').waitFor();
    expect(await findFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Recover' }).click();
    await page.getByLabel('Since').fill('2026-01-01T00:00');
    await page.getByRole('dialog').getByRole('button', { name: 'Recover' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('list the webhook endpoints that a revoked key created (K5)', async () => {
    const token = await browser.login('editor');
    const json = { name: 'Leaked', scopes: ['webhooks:write'] };
    const { key, token: keyToken } = (await browser.platform.call('POST', '/api/v1/keys', { token, json })).json;
    const endpoint = { url: 'https://elsewhere.example.org/', description: 'Copy' };
    const made = await browser.platform.call('POST', '/api/v1/webhook-endpoints', { token: keyToken, json: endpoint });
    const page = await browser.open('editor', `/console/keys/${key.id}`);
    await page.getByRole('button', { name: 'Revoke' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByText('elsewhere.example.org, Copy').waitFor();
    expect(await findFaults(page)).toEqual([]);
    await dialog.getByRole('link', { name: `Endpoint ${made.json.endpoint.id}` }).click();
    await heading(page, `Endpoint ${made.json.endpoint.id}`).waitFor();
  });

  it('disable and enable an endpoint for its owner and superusers only', async () => {
    const page = await browser.open('root', `/console/endpoints/${id}`);
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('disabled (requested)').waitFor();
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click();
    await page.getByText('in use').waitFor();
    const other = await browser.open('viewer', `/console/endpoints/${id}`);
    await other.getByRole('alert').getByText('Not found', { exact: true }).waitFor();
    expect(await other.getByText('Archive').count()).toBe(0);
  });
});

describe('console page of events (P6; V3)', () => {
  it('displays new events of the feed while the page is open', async () => {
    const page = await browser.open('root', '/console/events?types=webhook_endpoint.*');
    await page.getByText('No events since').waitFor();
    const token = await browser.login('editor');
    const turn = (disabled: boolean) =>
      browser.platform.call('POST', `/api/v1/webhook-endpoints/${id}/update`, { token, json: { disabled } });
    await waitFor(async () => {
      await turn(true);
      await turn(false);
      return (await row(page, 'webhook_endpoint.disabled').count()) > 0;
    });
    expect(await findFaults(page)).toEqual([]);
  });
});
