/** Spheres over the API: rights, keys, conflicts, history (W15). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor } from '#libs/infrastructure/contract';
import { contextFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { startEditFixture, type EditFixture } from './edit-fixture.ts';

const { createSphere, listSpheres, updateSphere } = directory.rpcs;

let fixture: EditFixture;
let curator: Actor;
beforeAll(async () => {
  fixture = await startEditFixture(import.meta.url);
  curator = { ...fixture.guest, workspaceEditor: true } as Actor;
});
afterAll(() => fixture.directory.stop());

const namesOf = async (request: { include_inactive?: boolean; limit?: number; cursor?: string }, actor: Actor) =>
  (await fixture.directory.call(listSpheres, request, actor)).items.map(({ name }) => name);
const create = (name: string, actor = curator) => fixture.directory.call(createSphere, { name }, actor);

describe('spheres.list (rules/holons#spheres; W15)', () => {
  it('lists the active spheres to every account, and inactive ones to editors of the set-up', async () => {
    expect(await namesOf({}, fixture.guest)).toEqual(['Health', 'Art']);
    expect(await namesOf({ include_inactive: true }, curator)).toEqual(['Health', 'Art', 'Old']);
    expect(await fixture.directory.refusal(listSpheres, { include_inactive: true }, fixture.editor)).toMatchObject({
      code: 'permission_denied',
    });
  });

  it('continues after the cursor and rejects one that is not from a page', async () => {
    const first = await fixture.directory.call(listSpheres, { limit: 1 }, fixture.guest);
    expect(first).toMatchObject({ items: [{ name: 'Health' }], next: String(first.items[0]?.id) });
    const second = await fixture.directory.call(listSpheres, { limit: 200, cursor: first.next ?? '' }, fixture.guest);
    expect(second).toMatchObject({ items: [{ name: 'Art' }], next: null });
    for (const cursor of ['0', '-1', 'x', '9'.repeat(20)]) {
      expect(await fixture.directory.refusal(listSpheres, { cursor })).toMatchObject({ code: 'bad_request' });
    }
  });
});

describe('spheres.create and spheres.update (W15)', () => {
  it('creates spheres with keys from their names, also concurrently, and records history and audit entries', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => create('  Clean Water ')));
    expect(made.map(({ sphere }) => sphere.key).toSorted()).toEqual([
      'clean-water',
      'clean-water-2',
      'clean-water-3',
      'clean-water-4',
      'clean-water-5',
    ]);
    expect(made[0]?.sphere).toEqual({
      id: expect.any(Number),
      key: expect.any(String),
      name: 'Clean Water',
      is_active: true,
    });
    const ids = made.map(({ sphere }) => sphere.id);
    const rows = await fixture.directory.env.sql(
      `select action, via, account_id from directory.history where object_kind = 'spheres' and object_id = any($1)`,
      [ids],
    );
    const accountId = curator.kind === 'user' ? curator.accountId : 0;
    expect(rows).toEqual(ids.map(() => ({ action: 'create', via: 'api', account_id: accountId })));
    const audit = await fixture.directory.env.sql(`select id from directory.audit_log where action = 'sphere.create'`);
    expect(audit).toHaveLength(5);
  });

  it('updates name and state with If-Match, and returns only what changed', async () => {
    const { sphere } = await create('Forests');
    const request = { sphere_id: sphere.id, name: ' Woods ', is_active: true };
    expect(await fixture.directory.call(updateSphere, request, curator)).toEqual({
      sphere: { ...sphere, name: 'Woods' },
      changes: { name: { old: 'Forests', new: 'Woods' } },
    });
    const retired = await fixture.directory.call(updateSphere, { sphere_id: sphere.id, is_active: false }, curator);
    expect(retired.changes).toEqual({ is_active: { old: true, new: false } });
    expect(await namesOf({}, fixture.guest)).not.toContain('Woods');
    const stale = { sphere_id: sphere.id, name: 'Trees', if_match: '"stale"' };
    expect(await fixture.directory.refusal(updateSphere, stale, curator)).toMatchObject({
      code: 'precondition_failed',
    });
  });

  it('rejects blank names, unknown spheres, and callers that cannot edit the set-up', async () => {
    const { refusal } = fixture.directory;
    expect(await refusal(createSphere, { name: ' \u200d ' }, curator)).toMatchObject({ code: 'bad_request' });
    for (const id of [0, -1, 2 ** 40, 999_999]) {
      expect(await refusal(updateSphere, { sphere_id: id, name: 'X' }, curator)).toMatchObject({ code: 'not_found' });
    }
    for (const actor of [fixture.editor, fixture.host, fixture.guest]) {
      expect(await refusal(createSphere, { name: 'X' }, actor)).toMatchObject({ code: 'permission_denied' });
      expect(await refusal(updateSphere, { sphere_id: 1, name: 'X' }, actor)).toMatchObject({
        code: 'permission_denied',
      });
    }
  });

  it('returns 404 for unknown and inactive spheres to callers that cannot edit the set-up', async () => {
    const { sphere } = await create('Retired');
    await fixture.directory.call(updateSphere, { sphere_id: sphere.id, is_active: false }, curator);
    for (const id of [sphere.id, 999_999]) {
      expect(await fixture.directory.refusal(updateSphere, { sphere_id: id, name: 'X' }, fixture.guest)).toMatchObject({
        code: 'not_found',
      });
    }
  });

  it('creates one sphere for repeated requests with an Idempotency-Key', async () => {
    const context = { ...contextFor(createSphere, curator), sentIdempotencyKey: 'sphere-1' };
    const call = () => fixture.directory.bus.call(createSphere, { name: 'Once' }, context);
    expect(await call()).toEqual(await call());
  });
});
