/** Set-up of agents: rights, checks, secrets, conflicts, deletion and history (rules/agents#set-up; W6, W10, W16). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor } from '#libs/infrastructure/contract';
import type { Service } from '#libs/infrastructure/lifecycle';
import { newContext } from '#libs/infrastructure/nats';
import { startService } from '#libs/product/testing';
import { agents } from '#services/agents';
import { directory } from '#services/directory';
import { type AgentFixture, failureOf, startAgentFixture } from './fixture.ts';

const { createAgent, updateAgent, deleteAgent, getWorkspaceAgent, listWorkspaceAgents, listAgentHistory } = agents.rpcs;
const secret = 'a-secret-of-at-least-24-characters';

let fixture: AgentFixture;
let directoryService: Service;
let editorAccount: number;

beforeAll(async () => {
  fixture = await startAgentFixture(import.meta.url);
  directoryService = await startService('directory', fixture.env, {});
  const document = {
    people: [{ key: 'ed', name: 'Ed Ito' }],
    accounts: [{ email: 'ed@example.org', person: 'ed', groups: ['workspace_editors'] }],
  };
  const { ids } = await fixture.bus.call(directory.rpcs.applyWorkspace, { document, dry_run: false }, newContext());
  editorAccount = ids['accounts']?.['ed@example.org'] ?? 0;
});
afterAll(async () => {
  await directoryService.stop();
  await fixture.stop();
});

const user = (rights: Partial<Extract<Actor, { kind: 'user' }>> = {}): Actor => ({
  kind: 'user',
  accountId: editorAccount,
  personId: null,
  superuser: false,
  globalEditor: false,
  coherenceAccess: false,
  ...rights,
});
const editor = (idempotencyKey?: string) => ({
  ...newContext(),
  actor: user({ workspaceEditor: true }),
  ...(idempotencyKey === undefined ? {} : { sentIdempotencyKey: idempotencyKey }),
});
type CreateRequest = Parameters<typeof create>[0];
const create = (request: { slug: string; name: string; [field: string]: unknown }, key?: string) =>
  fixture.bus.call(createAgent, request, editor(key));
const update = (slug: string, request: Record<string, unknown>) =>
  fixture.bus.call(updateAgent, { slug, ...request }, editor());
const get = (slug: string) => fixture.bus.call(getWorkspaceAgent, { slug }, editor());
const storedConfig = async (slug: string): Promise<unknown> => {
  const [row] = await fixture.env.sql<{ config: string }>(
    'select config from agents.agents where slug = $1 order by id desc limit 1',
    [slug],
  );
  return JSON.parse(row?.config ?? 'null');
};
const codeOf = async (call: Promise<unknown>): Promise<string> => {
  const { code, reason } = await failureOf(call);
  return reason ?? code;
};

describe('creating an agent (W6)', () => {
  it('returns the agent with masked secrets, as reading does', async () => {
    const config = { messaging: { bot_token: '1:abc', webhook_secret: secret, echo_channel: '@log' } };
    const { agent } = await create({ slug: 'created', name: 'Created', infos: { tone: 'warm' }, config });
    expect(agent).toEqual({
      id: expect.any(Number),
      slug: 'created',
      name: 'Created',
      prompt: '',
      infos: { tone: 'warm' },
      config: { messaging: { bot_token: { set: true }, webhook_secret: { set: true }, echo_channel: '@log' } },
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(await get('created')).toEqual({ agent });
    expect(await storedConfig('created')).toEqual(config);
  });

  it('rejects a used slug with slug_taken, also when it is sent twice at once', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) => create({ slug: 'race', name: `Race ${index}` })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await codeOf(create({ slug: 'race', name: 'Race' }))).toBe('slug_taken');
  });

  it('has one effect per idempotency key', async () => {
    const request: CreateRequest = { slug: 'once', name: 'Once' };
    const first = await create(request, 'key-of-one-creation');
    expect(await create(request, 'key-of-one-creation')).toEqual(first);
  });

  it.each([
    ['a blank name', { name: ' \u200b' }],
    ['an empty name', { name: '' }],
    ['a slug with a space', { slug: 'not a slug' }],
    ['a bot without a webhook secret', { config: { messaging: { bot_token: '1:abc' } } }],
    ['a weak webhook secret', { config: { messaging: { bot_token: '1:abc', webhook_secret: 'short' } } }],
    ['messaging that is not an object', { config: { messaging: 'x' } }],
    ['a variable of a workspace file', { config: { messaging: { bot_token: { env: 'TOKEN' } } } }],
    ['a masked secret without a stored one', { config: { api_key: { set: true } } }],
    ['data of more than 1 MiB', { infos: { text: 'x'.repeat(1_048_576) } }],
  ])('rejects %s with 400', async (_what, fields) => {
    expect(await codeOf(create({ slug: 'refused', name: 'Refused', ...fields }))).toBe('bad_request');
    expect(await codeOf(get('refused'))).toBe('not_found');
  });
});

describe('changing an agent (W6, W16)', () => {
  it('merges config per key, keeps secrets sent as {set: true} and replaces infos', async () => {
    const config = {
      messaging: { bot_token: '1:abc', webhook_secret: secret },
      list: [{ api_key: 'k' }, { api_key: 'l' }],
    };
    await create({ slug: 'merged', name: 'Merged', infos: { a: 1 }, config });
    const { agent, changes } = await update('merged', {
      infos: { b: 2 },
      config: {
        messaging: { bot_token: { set: true }, echo_channel: '@log' },
        list: [{ api_key: { set: true } }],
        x: 1,
      },
    });
    expect(agent.infos).toEqual({ b: 2 });
    expect(Object.keys(changes)).toEqual(['infos', 'config']);
    expect(changes['infos']).toEqual({ old: { a: 1 }, new: { b: 2 } });
    expect(changes['config']).toEqual({
      old: {
        messaging: { bot_token: { set: true }, webhook_secret: { set: true } },
        list: [{ api_key: { set: true } }, { api_key: { changed: true } }],
      },
      new: {
        messaging: { bot_token: { set: true }, webhook_secret: { set: true }, echo_channel: '@log' },
        list: [{ api_key: { set: true } }],
        x: 1,
      },
    });
    expect((await update('merged', { config: { list: [{ api_key: 'm' }] } })).changes).toMatchObject({
      config: { new: { list: [{ api_key: { changed: true } }] } },
    });
    await update('merged', { config: { list: [{ api_key: 'k' }] } });
    expect(await storedConfig('merged')).toEqual({
      messaging: { bot_token: '1:abc', webhook_secret: secret, echo_channel: '@log' },
      list: [{ api_key: 'k' }],
      x: 1,
    });
    await update('merged', { config: { messaging: null } });
    expect(await storedConfig('merged')).toEqual({ list: [{ api_key: 'k' }], x: 1 });
    expect((await update('merged', { config: null, prompt: null })).agent).toMatchObject({ config: {}, prompt: '' });
  });

  it('reports no changes and writes no entry when nothing differs', async () => {
    const { agent } = await create({ slug: 'same', name: 'Same', prompt: 'p', config: { api_key: 'k' } });
    const repeated = await update('same', { name: 'Same', prompt: 'p', config: { api_key: { set: true } } });
    expect(repeated).toEqual({ agent, changes: {} });
    expect((await fixture.bus.call(listAgentHistory, { id: 'same' }, editor())).items).toHaveLength(1);
  });

  it('accepts a change of the name while stored settings would be rejected today', async () => {
    const { agent } = await create({ slug: 'old', name: 'Old' });
    await fixture.env.sql(`update agents.agents set config = '{"messaging":{"bot_token":"1:a"}}' where id = $1`, [
      agent.id,
    ]);
    expect((await update('old', { name: 'Older' })).agent.name).toBe('Older');
    expect(await codeOf(update('old', { config: { x: 1 } }))).toBe('bad_request');
  });

  it('returns 412 for an outdated If-Match, and 404 for an unknown agent', async () => {
    await create({ slug: 'matched', name: 'Matched' });
    expect(await codeOf(update('matched', { name: 'X', if_match: '"other"' }))).toBe('precondition_failed');
    expect((await update('matched', { name: 'X', if_match: '*' })).agent.name).toBe('X');
    expect(await codeOf(update('absent', { name: 'X' }))).toBe('not_found');
  });
});

describe('rights on agents (W17)', () => {
  it.each<[string, Partial<Extract<Actor, { kind: 'user' }>>, string]>([
    ['members of workspace_editors', { workspaceEditor: true }, 'ok'],
    ['superusers', { superuser: true }, 'ok'],
    ['global editors', { globalEditor: true }, 'permission_denied'],
    ['operators', { ops: 'act' }, 'permission_denied'],
    ['other accounts', {}, 'permission_denied'],
  ])('are those of the set-up: %s', async (_who, rights, expected) => {
    const call = { ...newContext(), actor: user(rights) };
    const verdict = (promise: Promise<unknown>) =>
      promise.then(
        () => 'ok',
        (error: { code: string }) => (error.code === 'not_found' ? 'ok' : error.code),
      );
    const slug = 'rights';
    const verdicts = [
      await verdict(fixture.bus.call(createAgent, { slug, name: 'Rights' }, call)),
      await verdict(fixture.bus.call(listWorkspaceAgents, {}, call)),
      await verdict(fixture.bus.call(getWorkspaceAgent, { slug }, call)),
      await verdict(fixture.bus.call(updateAgent, { slug, name: 'X' }, call)),
      await verdict(fixture.bus.call(listAgentHistory, { id: slug }, call)),
      await verdict(fixture.bus.call(deleteAgent, { slug }, call)),
      await verdict(fixture.bus.call(getWorkspaceAgent, { slug: 'absent' }, call)),
    ];
    expect(new Set(verdicts)).toEqual(new Set([expected]));
  });
});

describe('deleting an agent (W6)', () => {
  it('frees the slug, removes settings, and leaves the threads to operators', async () => {
    await create({ slug: 'gone', name: 'Gone', config: { api_key: 'k' } });
    await fixture.say('Hello?', { slug: 'gone' });
    await fixture.bus.call(deleteAgent, { slug: 'gone' }, editor());
    expect(await codeOf(get('gone'))).toBe('not_found');
    expect(await codeOf(fixture.say('Hello again', { slug: 'gone' }))).toBe('not_found');
    expect(await storedConfig('gone')).toEqual({});
    const operator = { ...newContext(), actor: user({ ops: 'act' }) };
    const { items } = await fixture.bus.call(agents.rpcs.listThreads, { agent: 'gone', limit: 10 }, operator);
    expect(items).toMatchObject([{ agent: 'gone', turns: 1 }]);
    const thread = await fixture.bus.call(
      agents.rpcs.readThread,
      { thread_id: items[0]?.id ?? 0, limit: 10 },
      operator,
    );
    expect(thread.messages[0]?.body).toBe('Hello?');
    const { agent } = await create({ slug: 'gone', name: 'Back' });
    expect(await get('gone')).toEqual({ agent });
    expect(await codeOf(fixture.bus.call(deleteAgent, { slug: 'gone', if_match: '"x"' }, editor()))).toBe(
      'precondition_failed',
    );
  });
});

describe('listing agents (W6)', () => {
  it('continues after the cursor, by slug, and finds parts of names and slugs', async () => {
    for (const slug of ['list-b', 'list-a', 'list-c']) await create({ slug, name: `Lister ${slug}` });
    const list = (request: object) => fixture.bus.call(listWorkspaceAgents, request, editor());
    const first = await list({ q: 'LISTER', limit: 2 });
    expect([first.items.map(({ slug }) => slug), first.next]).toEqual([['list-a', 'list-b'], 'list-b']);
    const second = await list({ q: 'lister', limit: 2, cursor: first.next });
    expect([second.items.map(({ slug }) => slug), second.next]).toEqual([['list-c'], null]);
    expect(await codeOf(list({ cursor: '%' }))).toBe('bad_request');
  });

  it('ends a page early when agents are large', async () => {
    const infos = { text: 'x'.repeat(1_000_000) };
    for (const number of [1, 2, 3, 4, 5, 6]) await create({ slug: `large-${number}`, name: 'Large', infos });
    const slugs: string[] = [];
    let pages = 0;
    for (let cursor: string | undefined; pages < 6; pages++) {
      const page = await fixture.bus.call(
        listWorkspaceAgents,
        { q: 'large-', ...(cursor === undefined ? {} : { cursor }) },
        editor(),
      );
      slugs.push(...page.items.map(({ slug }) => slug));
      if (page.next === null) break;
      cursor = page.next;
    }
    expect(slugs).toEqual(['large-1', 'large-2', 'large-3', 'large-4', 'large-5', 'large-6']);
    expect(pages).toBeGreaterThan(0);
  });
});

describe('history of an agent (W10)', () => {
  it('has every change with its actor, its program and no secret', async () => {
    const { agent } = await create({ slug: 'told', name: 'Told', config: { api_key: 'hidden-value' } });
    await update('told', { prompt: 'Be kind.', config: { api_key: 'other-value' } });
    await fixture.apply([{ slug: 'told', name: 'Told by file' }]);
    const bySlug = await fixture.bus.call(listAgentHistory, { id: 'told' }, editor());
    const { items } = bySlug;
    expect(items.map(({ via, changes }) => [via, Object.keys(changes)])).toEqual([
      ['file', ['name']],
      ['api', ['prompt', 'config']],
      ['api', ['slug', 'name', 'prompt', 'infos', 'config']],
    ]);
    expect(items[1]?.actor).toEqual({ kind: 'account', name: 'Ed Ito', account_id: editorAccount, key_id: null });
    expect(items[2]?.changes['name']).toEqual({ old: null, new: 'Told' });
    expect(JSON.stringify(items)).not.toMatch(/hidden-value|other-value/);
    expect(await fixture.bus.call(listAgentHistory, { id: String(agent.id) }, editor())).toEqual(bySlug);
    const page = await fixture.bus.call(listAgentHistory, { id: 'told', limit: 2 }, editor());
    const rest = await fixture.bus.call(listAgentHistory, { id: 'told', limit: 2, cursor: page.next ?? '' }, editor());
    expect([...page.items, ...rest.items]).toEqual(items);
    expect(await codeOf(fixture.bus.call(listAgentHistory, { id: 'told', cursor: 'x' }, editor()))).toBe('bad_request');
  });

  it('records the deletion', async () => {
    const { agent } = await create({ slug: 'removed', name: 'Removed' });
    await fixture.bus.call(deleteAgent, { slug: 'removed' }, editor());
    const rows = await fixture.env.sql<{ action: string; name: string }>(
      `select action, changes ->> 'name' as name from agents.history where object_id = $1 order by id desc limit 1`,
      [agent.id],
    );
    expect(rows[0]).toMatchObject({ action: 'delete', name: '{"old":"Removed","new":null}' });
  });
});

describe('a workspace file beside edits over the API (W11, W24)', () => {
  const item = (fields: object = {}) => ({
    slug: 'edited',
    name: 'Edited',
    prompt: 'p',
    config: { a: 1, b: 1 },
    ...fields,
  });
  const apply = (fields: object, options: object) =>
    fixture.bus.call(agents.rpcs.applyWorkspace, { agents: [item(fields)], dry_run: false, ...options }, newContext());

  it('marks edited fields and leaves them alone with keep_edits, per key of config', async () => {
    await apply({}, {});
    await update('edited', { prompt: 'by api', config: { a: 2 } });
    const changed = { name: 'Changed', config: { a: 1, b: 3 } };
    const { diff } = await apply(changed, { dry_run: true });
    expect(diff).toEqual([
      {
        list: 'agents',
        key: 'edited',
        action: 'update',
        edited: true,
        fields: [
          { field: 'name', old: 'Edited', new: 'Changed' },
          { field: 'prompt', old: 'by api', new: 'p', edited: true },
          { field: 'config', old: '(hidden)', new: '(hidden)', edited: true },
        ],
      },
    ]);
    await apply(changed, { keep_edits: true });
    const { agent } = await get('edited');
    expect(agent).toMatchObject({ name: 'Changed', prompt: 'by api', config: { a: 2, b: 3 } });
    await apply({}, {});
    expect((await get('edited')).agent).toMatchObject({ name: 'Edited', prompt: 'p', config: { a: 1, b: 1 } });
    expect((await apply({ prompt: 'q' }, { dry_run: true })).diff[0]?.fields).toEqual([
      { field: 'prompt', old: 'p', new: 'q' },
    ]);
  });

  it('does not create a deleted agent again with keep_edits', async () => {
    await fixture.bus.call(deleteAgent, { slug: 'edited' }, editor());
    const { diff } = await apply({}, { dry_run: true });
    expect(diff).toMatchObject([{ action: 'create', edited: true, fields: [{ edited: true }, {}, {}, {}] }]);
    expect(await apply({}, { keep_edits: true })).toMatchObject({ created: 0, updated: 0 });
    expect(await apply({}, {})).toMatchObject({ created: 1 });
  });
});

describe('audit log of agents (W6)', () => {
  it('records creations, updates and deletions in the audit log without values', async () => {
    await create({ slug: 'audited', name: 'Audited', prompt: 'private text' });
    await update('audited', { prompt: 'more private text' });
    await fixture.bus.call(deleteAgent, { slug: 'audited' }, editor());
    const rows = await fixture.env.sql<{ action: string; changes: unknown }>(
      `select action, changes from agents.audit_log where target_id = 'audited' order by id`,
    );
    expect(rows).toEqual([
      { action: 'agent.create', changes: null },
      { action: 'agent.update', changes: '{"fields":["prompt"]}' },
      { action: 'agent.delete', changes: null },
    ]);
  });
});
