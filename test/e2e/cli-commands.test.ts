/** Commands of the CLI that call the HTTP APIs (rules/cli#admin-cli). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { askCli } from '../ask-cli.ts';
import { applyDemo, type Demo, startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let folder: string;
let key: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-commands-'));
  platform = await startTestPlatform(
    import.meta.url,
    {},
    { services: ['api-gateway', 'directory', 'agents', 'events', 'conversations', 'media', 'transcripts'] },
  );
  demo = await applyDemo(platform, 'cli');
  const token = await platform.login(`root-${demo.tag}@example.org`, `secret-of-root-${demo.tag}`);
  const created = await platform.call('POST', '/api/v1/keys', { token, json: { name: 'cli', scopes: ['*'] } });
  key = (created.json as { token: string }).token;
});
afterAll(async () => {
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a command without NATS. */
const ask = (...args: string[]): Promise<any> =>
  askCli({ COHERENCE_URL: platform.baseUrl, COHERENCE_KEY: key, COHERENCE_CONFIG_DIR: folder }, ...args);

const rejection = (...args: string[]): Promise<unknown> =>
  ask(...args).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('people list|create|update', () => {
  it('creates, lists and changes a person, and the history shows the CLI', async () => {
    const person = await ask('people', 'create', '--name', 'Cleo', '--contact', 'email=cleo@example.org');
    expect(person).toMatchObject({ name: 'Cleo', contact: { email: 'cleo@example.org' } });
    expect(await ask('people', 'list', '--q', 'cle')).toEqual([expect.objectContaining({ id: person.id })]);
    expect((await ask('people', 'list', '--limit', '2')).length).toBe(2);
    const changed = await ask('people', 'update', String(person.id), '--name', 'Cleopatra', '--contact', 'email=');
    expect(changed).toMatchObject({
      person: { name: 'Cleopatra', contact: {} },
      changes: { name: { old: 'Cleo', new: 'Cleopatra' } },
    });
    const [entry] = await ask('history', 'people', String(person.id));
    expect(entry).toMatchObject({ via: 'cli', changes: { name: { old: 'Cleo', new: 'Cleopatra' } } });
  });

  it('reports duplicates, unknown people and missing fields like commands over NATS', async () => {
    await ask('people', 'create', '--name', 'Dora', '--contact', 'email=dora@example.org');
    expect(await rejection('people', 'create', '--name', 'Dora', '--contact', 'email=dora@example.org')).toMatchObject({
      code: 'conflict',
      reason: 'duplicate_person',
      details: { match_field: 'contact.email' },
    });
    expect(await rejection('people', 'update', '999999', '--name', 'X')).toMatchObject({
      code: 'not_found',
      message: 'Person 999999 does not exist.',
    });
    expect(await rejection('people', 'update', String(demo.ada))).toMatchObject({ code: 'usage' });
  });
});

describe('accounts list|grant|deactivate|delete over HTTP', () => {
  it('changes rights, and prints the fields of earlier releases', async () => {
    const email = 'Granted@example.org';
    await ask('accounts', 'invite', email, '--group', 'coherence_users');
    const granted = ['accounts', 'grant', 'granted@example.org', '--superuser', '--person', String(demo.ada)];
    expect(await ask(...granted, '--remove-group', 'coherence_users')).toMatchObject({
      email,
      superuser: true,
      is_active: true,
      person_id: demo.ada,
      groups: [],
      changed: true,
    });
    expect((await platform.cli('accounts', 'grant', email, '--superuser')).stdout).toMatch(
      /^Nothing changed: Granted@example\.org\nstate: +active\n/,
    );
    expect(await rejection('accounts', 'grant', email, '--remove-group', 'users')).toMatchObject({
      message: expect.stringContaining('The group "users" does not exist. Groups: chat_agents, coherence_users,'),
    });
    expect(await ask('accounts', 'deactivate', email)).toMatchObject({ is_active: false, changed: true });
    expect(await ask('accounts', 'deactivate', email)).toMatchObject({ is_active: false, changed: false });
    expect(await ask('accounts', 'list', '--inactive')).toMatchObject([{ email, is_active: false }]);
    expect((await platform.cli('accounts', 'grant', email, '--activate')).stdout).toMatch(/^Changed: Granted@example/);
  });

  it('lists accounts in pages, after a cursor or the email of an earlier release', async () => {
    const first = await platform.cli('accounts', 'list', '--limit', '1');
    expect(first.stdout).toMatch(/^EMAIL +STATE .*\n.*\nMore results: --cursor \S+\n$/);
    const cursor = /--cursor (\S+)/.exec(first.stdout)?.[1] ?? '';
    const all = await ask('accounts', 'list');
    expect(await ask('accounts', 'list', '--cursor', cursor)).toEqual(all.slice(1));
    expect(await ask('accounts', 'list', '--after', all[0].email)).toEqual(all.slice(1));
    expect(await rejection('accounts', 'list', '--group', 'users')).toMatchObject({
      message: expect.stringContaining('The group "users" does not exist.'),
    });
  });

  it('deletes an account only with --yes outside a terminal', async () => {
    const email = 'granted@example.org';
    expect(await rejection('accounts', 'delete', email)).toMatchObject({
      message: 'No terminal for the confirmation prompt; use --yes.',
    });
    expect(await ask('accounts', 'delete', email, '--yes')).toMatchObject({ email: 'Granted@example.org' });
    for (const command of ['delete', 'deactivate', 'show'])
      expect(await rejection('accounts', command, email)).toMatchObject({
        code: 'not_found',
        reason: 'account_not_found',
        message: `No account has the email ${email}.`,
      });
  });
});

describe('keys list over HTTP', () => {
  it('lists keys in pages, after a cursor or the offset of an earlier release', async () => {
    const email = `ben-${demo.tag}@example.org`;
    for (const name of ['One', 'Two']) await ask('keys', 'create', email, '--name', name, '--scope', 'media:read');
    expect((await platform.cli('keys', 'list', email, '--limit', '1')).stdout).toMatch(/\nMore results: --cursor 1\n$/);
    for (const option of ['--cursor', '--offset'])
      expect(await ask('keys', 'list', email, option, '1')).toMatchObject([{ name: 'One' }]);
    const [{ id, account }] = await ask('keys', 'list', email, '--limit', '1');
    expect(await ask('keys', 'list', '--account', String(account.id))).toHaveLength(2);
    expect(await ask('keys', 'show', id)).toMatchObject({ id, name: 'Two' });
    expect(await rejection('keys', 'show', 'nothing')).toMatchObject({ message: 'Key nothing does not exist.' });
  });
});

describe('holons list|create|update|delete', () => {
  it('creates, moves and deletes a holon', async () => {
    const created = await ask('holons', 'create', '--name', 'Open day', '--class', 'event', '--slug', 'open-day');
    expect(created).toMatchObject({ name: 'Open day', slug: 'open-day', type: 'event' });
    expect(await ask('holons', 'list', '--q', 'open day')).toEqual([expect.objectContaining({ id: created.id })]);
    expect((await ask('holons', 'update', 'open-day', '--slug', 'open-days')).changes).toEqual({
      slug: { old: 'open-day', new: 'open-days' },
    });
    expect(await rejection('holons', 'create', '--name', 'X', '--class', 'event', '--slug', 'open-days')).toMatchObject(
      { code: 'conflict', reason: 'slug_taken' },
    );
    expect(await rejection('holons', 'update', 'open-day', '--name', 'X')).toMatchObject({
      message: 'Holon open-day does not exist.',
    });
    expect(await rejection('holons', 'delete', 'open-days')).toMatchObject({
      message: expect.stringContaining('--yes'),
    });
    expect(await ask('holons', 'delete', 'open-days', '--yes')).toEqual({ deleted: created.id });
  });
});

describe('memberships, relationships, notes, people search and holons search|show', () => {
  it('creates, changes and deletes what belongs to a holon, and shows it', async () => {
    await platform.apply({
      classes: [{ slug: 'house', label: 'House', journeys: ['live'] }],
      journeys: [{ slug: 'live', name: 'Live', steps: [{ slug: 'in', title: 'In' }] }],
    });
    const make = (name: string) => ask('holons', 'create', '--name', name, '--class', 'house');
    const [holon, other] = [await make('Lake house'), await make('Boat house')];
    const place = ['--holon', String(holon.id), '--journey', 'live'];
    const membership = await ask('memberships', 'create', '--person', String(demo.ada), ...place, '--note', 'Met.');
    const member = String(membership.membership_id);
    expect(
      (await ask('memberships', 'update', member, '--follow-up', '2027-01-31', '--note', 'Later.')).membership
        .follow_up_after,
    ).toBe('2027-01-31');
    const shown = await ask('holons', 'show', holon.slug);
    expect(shown).toMatchObject({
      holon: { id: holon.id, name: 'Lake house' },
      memberships: { count: 1, items: [{ membership_id: membership.membership_id }] },
      relationships: { count: 0, items: [] },
    });
    expect(await ask('holons', 'search', 'lake h')).toEqual([expect.objectContaining({ id: holon.id })]);
    const name = shown.memberships.items[0].person.name as string;
    expect(await ask('people', 'search', name)).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: demo.ada })]),
    );

    const sides = ['--from-holon', String(holon.id), '--to-holon', String(other.id)];
    const relationship = await ask('relationships', 'create', ...sides, '--note', 'Neighbours.');
    const related = String(relationship.relationship_id);
    expect((await ask('holons', 'show', String(other.id))).relationships.count).toBe(1);
    expect(
      (await ask('relationships', 'update', related, '--follow-up', '2027-02-01', '--note', 'Later.')).relationship
        .follow_up_after,
    ).toBe('2027-02-01');

    const notes = await ask('notes', 'list', '--holon', String(holon.id));
    expect(notes.map(({ body }: { body: string }) => body)).toEqual(['Later.', 'Neighbours.', 'Later.', 'Met.']);
    const first = String(notes[0].id);
    expect(await ask('notes', 'list', '--holon', String(holon.id), '--before', first)).toEqual(notes.slice(1));
    expect(await ask('notes', 'list', '--holon', String(holon.id), '--limit', '1')).toEqual([notes[0]]);
    expect((await ask('notes', 'update', first, 'Close neighbours.')).note.body).toBe('Close neighbours.');
    expect(await ask('notes', 'delete', first, '--yes')).toEqual({ deleted: notes[0].id });
    expect(await ask('relationships', 'delete', related, '--yes')).toEqual({ deleted: relationship.relationship_id });
    expect(await rejection('memberships', 'delete', member)).toMatchObject({
      message: expect.stringContaining('--yes'),
    });
    expect(await ask('memberships', 'delete', member, '--yes')).toEqual({ deleted: membership.membership_id });
    expect(await rejection('memberships', 'delete', member, '--yes')).toMatchObject({
      message: `Membership ${member} does not exist.`,
    });
  });
});

describe('classes and spheres', () => {
  it('creates, retires and deletes a class', async () => {
    const created = await ask('classes', 'create', 'holon/pond', '--label', 'Pond');
    expect(created).toMatchObject({ object_kind: 'holon', slug: 'pond', label: 'Pond' });
    expect((await ask('classes', 'update', 'holon/pond', '--label', 'Small pond')).changes).toEqual({
      label: { old: 'Pond', new: 'Small pond' },
    });
    expect(await ask('classes', 'show', 'holon/pond')).toMatchObject({ label: 'Small pond' });
    expect(await rejection('classes', 'show', 'pond')).toMatchObject({ code: 'usage' });
    expect(await ask('classes', 'delete', 'holon/pond', '--yes')).toEqual({ deleted: 'holon/pond' });
  });

  it('creates and retires a sphere', async () => {
    const { id } = await ask('spheres', 'create', 'Water');
    expect((await ask('spheres', 'update', String(id), '--active', 'false')).sphere).toMatchObject({
      is_active: false,
    });
    expect(await ask('spheres', 'list')).not.toContainEqual(expect.objectContaining({ id }));
    expect(await ask('spheres', 'list', '--all')).toContainEqual(expect.objectContaining({ id, name: 'Water' }));
  });
});

describe('accounts show|invite|reset-password', () => {
  it('invites a user, and resets the password of an account', async () => {
    const { account, invitation } = await ask('accounts', 'invite', 'New@example.org', '--group', 'chat_agents');
    expect(account).toMatchObject({ has_password: false, groups: ['chat_agents'] });
    expect(invitation.url).toMatch(/\/console\/invitation/);
    expect(await ask('accounts', 'show', 'new@EXAMPLE.org')).toMatchObject({ id: account.id });
    expect(await ask('accounts', 'show', String(account.id))).toMatchObject({ email: account.email });
    expect(await rejection('accounts', 'invite', 'new@example.org')).toMatchObject({ reason: 'email_taken' });
    expect(await rejection('accounts', 'show', 'nobody@example.org')).toMatchObject({ code: 'not_found' });
    expect(await rejection('accounts', 'reset-password', 'new@example.org')).toMatchObject({
      message: expect.stringContaining('--yes'),
    });
    const reset = await ask('accounts', 'reset-password', 'new@example.org', '--yes');
    expect(reset.invitation.token).not.toBe(invitation.token);
  });
});

describe('conversations create|update|notes|note', () => {
  it('creates a conversation, moves it in time and adds a note', async () => {
    const created = await ask(
      'conversations',
      'create',
      '--journey',
      demo.journey,
      '--start',
      '2026-05-01T10:00:00Z',
      '--participant',
      String(demo.ada),
      String(demo.ben),
    );
    expect(created).toMatchObject({ journey_slug: demo.journey, participants: [{ id: demo.ada }, { id: demo.ben }] });
    const id = String(created.id);
    expect(await ask('conversations', 'update', id, '--finish', '2026-05-01T11:00:00Z')).toMatchObject({
      finish: '2026-05-01T11:00:00Z',
    });
    expect(await rejection('conversations', 'update', id, '--finish', '2026-05-01T09:00:00Z')).toMatchObject({
      reason: 'invalid_times',
    });
    await ask('conversations', 'note', id, 'A note from the CLI.');
    expect(await ask('conversations', 'notes', id)).toEqual(
      expect.arrayContaining([expect.objectContaining({ body: 'A note from the CLI.' })]),
    );
    expect(await ask('notes', 'list', '--conversation', id)).toEqual(
      expect.arrayContaining([expect.objectContaining({ body: 'A note from the CLI.' })]),
    );
    expect((await ask('conversations', 'timeline', id)).items[0]).toMatchObject({ kind: 'conversation.created' });
    expect((await ask('transcripts', 'read', id, '--format', 'txt')).format).toBe('txt');
    expect(await ask('transcripts', 'search', 'nothing')).toEqual([]);
    expect(await rejection('transcripts', 'read', '999999')).toMatchObject({
      message: 'Conversation 999999 does not exist.',
    });
    expect(await rejection('conversations', 'notes', '999999')).toMatchObject({
      message: 'Conversation 999999 does not exist.',
    });
  });
});

describe('journeys list|show', () => {
  it('shows journeys with their steps', async () => {
    expect(await ask('journeys', 'list', '--q', 'cli')).toMatchObject([{ slug: demo.journey, step_count: 3 }]);
    expect(await ask('journeys', 'show', demo.journey)).toMatchObject({ slug: demo.journey, steps: { length: 3 } });
    expect(await rejection('journeys', 'show', 'nowhere')).toMatchObject({
      message: 'Journey nowhere does not exist.',
    });
  });
});

describe('agents show|create|update|delete', () => {
  it('creates an agent from a file, changes its prompt and deletes it', async () => {
    const file = join(folder, 'agent.yaml');
    await writeFile(file, 'name: From a file\nprompt: Be brief.\nconfig: {messaging: {}}\n');
    expect(await ask('agents', 'create', 'helper', '--from', file, '--name', 'Helper')).toMatchObject({
      slug: 'helper',
      name: 'Helper',
      prompt: 'Be brief.',
    });
    expect((await ask('agents', 'update', 'helper', '--prompt', 'Be kind.')).changes).toEqual({
      prompt: { old: 'Be brief.', new: 'Be kind.' },
    });
    expect(await ask('agents', 'show', 'helper')).toMatchObject({ prompt: 'Be kind.' });
    expect(await rejection('agents', 'delete', 'helper')).toMatchObject({ message: expect.stringContaining('--yes') });
    expect(await ask('agents', 'delete', 'helper', '--yes')).toEqual({ deleted: 'helper' });
    expect(await rejection('agents', 'show', 'helper')).toMatchObject({ code: 'not_found' });
  });

  it('rejects a file that is not an object', async () => {
    const file = join(folder, 'list.yaml');
    await writeFile(file, '- 1\n');
    expect(await rejection('agents', 'update', 'helper', '--from', file)).toMatchObject({
      message: expect.stringContaining('must contain an object'),
    });
  });
});

describe('endpoints create|rotate-secret|delete', () => {
  it('prints the secret once', async () => {
    const { endpoint, secret } = await ask('endpoints', 'create', 'https://example.org/hook', '--type', 'person.*');
    expect([endpoint.types, secret]).toEqual([['person.*'], expect.stringMatching(/^whsec_/)]);
    const rotated = await ask('endpoints', 'rotate-secret', String(endpoint.id), '--overlap-seconds', '0');
    expect(rotated.secret).not.toBe(secret);
    expect(await ask('endpoints', 'delete', String(endpoint.id), '--yes')).toEqual({ deleted: endpoint.id });
    expect(await rejection('endpoints', 'delete', String(endpoint.id), '--yes')).toMatchObject({ code: 'not_found' });
  });
});

describe('commands without a console or a profile', () => {
  it('print the address of the console, and ask to log in', async () => {
    expect(await ask('open', '--print')).toEqual({ url: `${platform.baseUrl}/console` });
    const none = { COHERENCE_CONFIG_DIR: folder, NATS_URL: 'nats://127.0.0.1:1' };
    await expect(askCli(none, 'people', 'list')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('coherence login'),
    });
  });
});
