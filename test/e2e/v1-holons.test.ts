/** Holons and spheres over HTTP: statuses, tags, events, scopes. The rules are tested in test/integration/directory. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { startTestPlatform, type Applied, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let ids: Applied['ids'];
const tokens: Record<string, string> = {};
beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    {},
    { services: ['api-gateway', 'directory', 'conversations', 'events'] },
  );
  ({ ids } = await platform.apply({
    classes: [
      { slug: 'camp', allowed_children: ['tent'] },
      {
        slug: 'tent',
        config: { info_field_groups: [{ key: 'g', fields: [{ key: 'theme', type: 'select', options: ['care'] }] }] },
      },
      { slug: 'vault', private: true },
    ],
    people: ['ed', 'hana', 'gus', 'wim'].map((key) => ({ key, name: key })),
    holons: [
      { slug: 'summer', name: 'Summer', class: 'camp', parent: 'vault' },
      { slug: 'vault', name: 'Vault', class: 'vault' },
    ],
    accounts: [
      { email: 'ed@example.org', person: 'ed', password: 'secret-of-ed', global_editor: true },
      { email: 'hana@example.org', person: 'hana', password: 'secret-of-hana', teams: [{ holon: 'summer' }] },
      { email: 'gus@example.org', person: 'gus', password: 'secret-of-gus' },
      { email: 'wim@example.org', person: 'wim', password: 'secret-of-wim', groups: ['workspace_editors'] },
    ],
  }));
  for (const name of ['ed', 'hana', 'gus', 'wim'])
    tokens[name] = await platform.login(`${name}@example.org`, `secret-of-${name}`);
});
afterAll(() => platform.stop());

const call = (method: string, path: string, who: string, json?: unknown, headers: Record<string, string> = {}) =>
  platform.call(method, `/api/v1${path}`, {
    token: tokens[who] ?? '',
    headers,
    ...(json === undefined ? {} : { json }),
  });
const summer = (): number => ids['holons']?.['summer'] ?? 0;
const create = (json: object = {}) =>
  call('POST', '/holons', 'hana', { name: 'Tent', class: 'tent', parent_id: summer(), ...json });

describe('holons over HTTP (W2, W12, W13)', () => {
  it('creates, reads, changes and deletes a holon', async () => {
    const created = await create({ info_fields: { theme: ['care'] } });
    expect(created.status).toBe(201);
    const { id } = created.json.holon;
    expect((await call('GET', `/holons/${id}`, 'hana')).json).toEqual(created.json.holon);
    expect((await call('GET', `/holons/${id}`, 'gus')).json).not.toHaveProperty('info_fields');
    const changed = await call('POST', `/holons/${id}/update`, 'hana', { slug: 'blue-tent' });
    expect(changed.json.changes).toEqual({ slug: { old: created.json.holon.slug, new: 'blue-tent' } });
    const taken = await create({ slug: 'blue-tent' });
    expect([taken.status, taken.json]).toEqual([
      409,
      { code: 'slug_taken', message: expect.any(String), retryable: false },
    ]);
    const used = await call('DELETE', `/holons/${summer()}`, 'ed');
    expect([used.status, used.json]).toEqual([
      409,
      {
        code: 'in_use',
        message: expect.any(String),
        retryable: false,
        counts: { children: 1, memberships: 0, relationships: 0, conversations: 0 },
      },
    ]);
    expect((await call('DELETE', `/holons/${id}`, 'gus')).status).toBe(403);
    const deleted = await call('DELETE', `/holons/${id}`, 'hana');
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await call('DELETE', `/holons/${id}`, 'hana')).status).toBe(404);
  });

  it('sends callers with different rights the same tag, which changes with every field', async () => {
    const { headers, json } = await create();
    const { id, slug } = json.holon;
    const tagsOf = async () => {
      const reads = await Promise.all(
        ['ed', 'hana', 'gus'].flatMap((who) =>
          [`/holons/${id}`, `/holons/by-slug/${slug}`].map((path) => call('GET', path, who)),
        ),
      );
      return new Set(reads.map((read) => read.headers.get('etag')));
    };
    let last = headers.get('etag') ?? '';
    expect(await tagsOf()).toEqual(new Set([last]));
    for (const fields of [{ name: 'New' }, { locations: ['DE'] }, { info_fields: { theme: ['care'] } }]) {
      const update = await call('POST', `/holons/${id}/update`, 'hana', fields, { 'If-Match': last });
      expect(update.status).toBe(200);
      const next = update.headers.get('etag') ?? '';
      expect(next).not.toBe(last);
      expect(await tagsOf()).toEqual(new Set([next]));
      expect((await call('POST', `/holons/${id}/update`, 'hana', {}, { 'If-Match': last })).status).toBe(412);
      expect((await call('DELETE', `/holons/${id}`, 'hana', undefined, { 'If-Match': last })).status).toBe(412);
      last = next;
    }
    expect((await call('GET', `/holons/${id}`, 'gus', undefined, { 'If-None-Match': last })).status).toBe(304);
    expect((await call('DELETE', `/holons/${id}`, 'hana', undefined, { 'If-Match': last })).status).toBe(204);
  });

  it('emits holon.created, holon.updated and holon.deleted, and afterwards shows only the last one', async () => {
    const { id } = (await create()).json.holon;
    const typesOf = async (who: string): Promise<string[]> => {
      const { json } = await call('GET', `/events?subject_type=holon&subject_id=${id}`, who);
      return json.items.map(({ type }: { type: string }) => type);
    };
    await call('POST', `/holons/${id}/update`, 'hana', { name: 'Other' });
    await waitFor(async () => (await typesOf('gus')).includes('holon.updated') || undefined);
    expect(await typesOf('gus')).toEqual(['holon.created', 'holon.updated']);
    await call('DELETE', `/holons/${id}`, 'hana');
    await waitFor(async () => (await typesOf('gus')).includes('holon.deleted') || undefined);
    expect(await typesOf('gus')).toEqual(['holon.deleted']);
  });
});

describe('spheres over HTTP (W15, W18)', () => {
  it('creates and updates a sphere for members of workspace_editors, and lists it', async () => {
    const created = await call('POST', '/spheres', 'wim', { name: 'Rivers' });
    expect([created.status, created.json.sphere.key]).toEqual([201, 'rivers']);
    const { id } = created.json.sphere;
    const tag = created.headers.get('etag') ?? '';
    const updated = await call('POST', `/spheres/${id}/update`, 'wim', { name: 'Seas' }, { 'If-Match': tag });
    expect(updated.json).toEqual({
      sphere: { id, key: 'rivers', name: 'Seas', is_active: true },
      changes: { name: { old: 'Rivers', new: 'Seas' } },
    });
    expect((await call('POST', `/spheres/${id}/update`, 'wim', {}, { 'If-Match': tag })).status).toBe(412);
    expect((await call('GET', '/spheres', 'gus')).json).toEqual({ items: [updated.json.sphere], next: null });
    for (const [path, body] of [
      ['/spheres', { name: 'X' }],
      [`/spheres/${id}/update`, { name: 'X' }],
    ] as const) {
      expect((await call('POST', path, 'ed', body)).status).toBe(403);
    }
  });

  it('requires the scopes workspace:read and workspace:write of service keys', async () => {
    const key = async (scopes: string[]): Promise<string> =>
      (await call('POST', '/keys', 'wim', { name: scopes.join(' '), scopes })).json.token;
    const [reader, none] = [await key(['workspace:read']), await key(['directory:write'])];
    const as = (token: string, method: string, json?: unknown) =>
      platform.call(method, '/api/v1/spheres', { token, ...(json === undefined ? {} : { json }) });
    expect((await as(reader, 'GET')).status).toBe(200);
    expect((await as(none, 'GET')).json).toMatchObject({
      code: 'insufficient_scope',
      required_scope: 'workspace:read',
    });
    expect((await as(reader, 'POST', { name: 'X' })).json).toMatchObject({ required_scope: 'workspace:write' });
  });
});
