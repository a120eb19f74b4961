/** Webhook endpoints and the feed in the admin CLI (rules/cli#admin-cli; V5, V10, V11). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ReceivedWebhook, startWebhookReceiver, waitFor, type WebhookReceiver } from '#libs/product/testing';
import { eventually, startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let receiver: WebhookReceiver;
const names = ['ann', 'root'];
const tokens: Record<string, string> = {};
/** Endpoints of Ann (new people) and Root (all conversation events), as returned by the API. */
let archive: any;
let other: any;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  platform = await startTestPlatform(
    import.meta.url,
    { WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}` },
    { services: ['api-gateway', 'directory', 'conversations', 'events'] },
  );
  await platform.apply({
    people: names.map((key) => ({ key, name: key })),
    accounts: names.map((name) => ({
      email: `${name}@example.org`,
      person: name,
      password: `secret-of-${name}-1`,
      superuser: name === 'root',
    })),
  });
  for (const name of names) tokens[name] = await platform.login(`${name}@example.org`, `secret-of-${name}-1`);
  platform.logInCli(tokens['root'] ?? '');
  const create = async (who: string, json: object): Promise<any> =>
    (await platform.call('POST', '/api/v1/webhook-endpoints', { token: tokens[who] ?? '', json })).json.endpoint;
  archive = await create('ann', { url: receiver.url('/archive'), types: ['person.created'], description: 'Archive' });
  other = await create('root', { url: receiver.url('/other'), types: ['conversation.*'] });
});
afterAll(async () => {
  await platform.stop();
  await receiver.stop();
});

/** @returns the id of the person */
async function person(key: string): Promise<number> {
  return (await platform.apply({ people: [{ key, name: `Person ${key}` }] })).ids['people']?.[key] ?? 0;
}
const arrived = (count: number): Promise<readonly ReceivedWebhook[]> =>
  waitFor(() => (receiver.received.length >= count ? receiver.received : undefined), {
    what: `${count} at the receiver`,
  });
const subjectOf = (item: ReceivedWebhook | undefined): any => JSON.parse(item?.body ?? '{}').subject;
const endpoints = (...args: (string | number)[]): Promise<any> => platform.ask('endpoints', ...args.map(String));
const said = (...args: (string | number)[]) => platform.cli('endpoints', ...args.map(String));
const refusal = async (...args: (string | number)[]): Promise<[number, string]> => {
  const { code, stderr } = await said(...args);
  return [code, stderr.trim()];
};

describe('admin CLI: endpoints (rules/cli#admin-cli; V5, V11)', () => {
  it('lists a page of the webhook endpoints of all accounts or of one account, newest first', async () => {
    expect(await endpoints('list')).toEqual([other, archive]);
    expect(await endpoints('list', '--account', archive.account_id)).toEqual([archive]);
    expect(await endpoints('list', '--limit', 1)).toEqual([other]);
    expect(await endpoints('list', '--offset', 1)).toEqual([archive]);
    const [header = '', ...rows] = (await said('list')).stdout.trimEnd().split('\n');
    expect(header).toMatch(/^ID +ACCOUNT +URL +STATE +TYPES +DESCRIPTION$/);
    expect(rows.map((row) => row.trim().split(/ {2,}/))).toEqual([
      [other.id, other.account_id, other.url, 'active', 'conversation.*', '–'].map(String),
      [archive.id, archive.account_id, archive.url, 'active', 'person.created', 'Archive'].map(String),
    ]);
    expect((await said('list', '--account', 999_999)).stdout).toBe('No endpoints.\n');
  });

  it('shows one webhook endpoint without its secret', async () => {
    expect(await endpoints('show', archive.id)).toEqual(archive);
    const { stdout } = await said('show', archive.id);
    expect(stdout).toMatch(new RegExp(`^url: +${archive.url}$`, 'm'));
    expect(stdout).toMatch(/^state: +active$/m);
    expect(stdout).not.toContain('whsec_');
    expect(await refusal('show', 999_999)).toEqual([1, 'Endpoint 999999 does not exist.']);
  });

  it('sends a test event that is not in the feed, regardless of the subscribed types', async () => {
    const delivery = await endpoints('test', other.id);
    expect(delivery).toMatchObject({ status: 'pending', attempts: [] });
    const [got] = await arrived(1);
    expect([got?.path, got?.id, JSON.parse(got?.body ?? '').type]).toEqual([
      '/other',
      delivery.event_id,
      'webhook_endpoint.test',
    ]);
    await eventually(async () =>
      expect(await endpoints('deliveries', other.id)).toMatchObject([{ id: delivery.id, status: 'delivered' }]),
    );
    expect((await said('test', other.id)).stdout).toContain(`See the result with: endpoints deliveries ${other.id}`);
    await arrived(2);
    expect(await refusal('test', 999_999)).toEqual([1, 'Endpoint 999999 does not exist.']);
  });

  it('redelivers an event with the same id', async () => {
    const id = await person('first');
    const [, , first] = await arrived(3);
    expect([first?.path, subjectOf(first)]).toEqual(['/archive', { type: 'person', id }]);
    const [delivery] = await waitFor(async () => {
      const found = await endpoints('deliveries', archive.id, '--status', 'delivered');
      return found.length > 0 ? found : undefined;
    });
    expect(await endpoints('redeliver', archive.id, delivery.id)).toMatchObject({ id: delivery.id, status: 'pending' });
    const [, , , second] = await arrived(4);
    expect([second?.id, second?.body]).toEqual([first?.id, first?.body]);
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect(await refusal('redeliver', archive.id, unknown)).toEqual([
      1,
      `Delivery ${unknown} of endpoint ${archive.id} does not exist.`,
    ]);
  });

  it('stops deliveries with disable after a confirmation, resumes them with enable, and sends missed events with recover', async () => {
    const startedAt = new Date().toISOString();
    expect(await refusal('disable', archive.id)).toEqual([1, 'No terminal for the confirmation prompt; use --yes.']);
    expect(await endpoints('show', archive.id)).toMatchObject({ disabled: false });
    expect(await endpoints('disable', archive.id, '--yes')).toMatchObject({
      disabled: true,
      disabled_reason: 'requested',
    });
    expect((await said('show', archive.id)).stdout).toMatch(/^state: +disabled \(requested\)$/m);
    for (const act of [
      ['test', archive.id],
      ['recover', archive.id, '--since', '1h'],
    ] as const)
      expect(await refusal(...act)).toEqual([1, expect.stringContaining('endpoint_disabled')]);
    const missed = await person('missed');
    await eventually(async () => {
      const { json } = await platform.call('GET', `/api/v1/events?subject_type=person&subject_id=${missed}`, {
        token: tokens['root'] ?? '',
      });
      expect(json.items).toHaveLength(1);
    });
    expect(await endpoints('enable', archive.id)).toMatchObject({ disabled: false, disabled_reason: null });
    const later = await person('later');
    const [, , , , fifth] = await arrived(5);
    expect(subjectOf(fifth)).toEqual({ type: 'person', id: later });
    expect(await endpoints('recover', archive.id, '--since', startedAt)).toMatchObject({
      id: archive.id,
      recovering: true,
    });
    const [, , , , , sixth] = await arrived(6);
    expect(subjectOf(sixth)).toEqual({ type: 'person', id: missed });
    await eventually(async () => expect(await endpoints('show', archive.id)).toMatchObject({ recovering: false }));
    expect(receiver.received).toHaveLength(6);
  });
});

describe('admin CLI: events tail (rules/cli#admin-cli; V10)', () => {
  it('prints new events of the selected types on one line each', async () => {
    const before = await person('before');
    await waitFor(() => receiver.received.some((item) => subjectOf(item).id === before), {
      what: 'the feed tells of it',
    });
    let ended = false;
    const tail = platform.cli('events', 'tail', '--types', 'person.*', '--count', '3').finally(() => (ended = true));
    const made: number[] = [];
    await waitFor(async () => {
      if (!ended) made.push(await person(`now-${made.length}`));
      return ended;
    });
    const { code, stdout } = await tail;
    const lines = stdout.trimEnd().split('\n');
    const shown = lines.map((line) =>
      Number(/^\S+Z {2}person\.created {2}person (\d+) {2}\{\} {2}[\w-]{22}$/.exec(line)?.[1]),
    );
    expect(code).toBe(0);
    expect(shown).not.toContain(before);
    expect(shown).toEqual(made.slice(made.indexOf(shown[0] ?? 0)).slice(0, 3));
  });

  it('waits for events after a cursor, and prints only events of the selected types as JSON', async () => {
    const { json } = await platform.call('GET', '/api/v1/events?after=latest', { token: tokens['root'] ?? '' });
    const tail = platform.cli('events', 'tail', '--types', 'holon.*', '--after', json.next, '--count', '1', '--json');
    await person('not-wanted');
    const { ids } = await platform.apply({
      classes: [{ slug: 'group', label: 'Group' }],
      holons: [{ slug: 'camp', name: 'Camp', class: 'group' }],
    });
    expect(JSON.parse((await tail).stdout)).toMatchObject({
      type: 'holon.created',
      subject: { type: 'holon', id: ids['holons']?.['camp'] },
    });
    expect(await platform.cli('events', 'tail', '--types', 'nothing.*')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('contains an unknown type'),
    });
  });
});
