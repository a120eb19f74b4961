/** Deletion of holons: rights, what prevents it, what goes with it, and who learns of it (W2, W14, W21). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor } from '#libs/infrastructure/contract';
import { startService } from '#libs/product/testing';
import { directory } from '#services/directory';
import { startEditFixture, type EditFixture } from './edit-fixture.ts';

const { createHolon, deleteHolon, getHolon, listHiddenHolons } = directory.rpcs;

let fixture: EditFixture;
let count = 0;
beforeAll(async () => {
  fixture = await startEditFixture(import.meta.url);
  await startService('conversations', fixture.directory.env);
});
afterAll(() => fixture.directory.stop());

const idOf = (slug: string): number => fixture.holons[slug] ?? 0;
const sql = <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
  fixture.directory.env.sql<Row>(text, values);
const fresh = async (values: object = {}): Promise<{ id: number; slug: string }> => {
  const request = { name: `Tent ${++count}`, class: 'place', parent_id: idOf('summer'), ...values };
  return (await fixture.directory.call(createHolon, request, fixture.editor)).holon;
};
const remove = (id: number, actor = fixture.host) => fixture.directory.call(deleteHolon, { holon_id: id }, actor);
const refusal = (id: number, actor: Actor = fixture.host, ifMatch?: string) =>
  fixture.directory.refusal(
    deleteHolon,
    { holon_id: id, ...(ifMatch === undefined ? {} : { if_match: ifMatch }) },
    actor,
  );

describe('holons.delete (rules/holons#create-and-delete; W2, W14)', () => {
  it('deletes the holon with its own notes, journeys and team authority, and keeps notes about others', async () => {
    const { id, slug } = await fresh({ journey_ids: [fixture.journeys['other'] ?? 0] });
    await fixture.directory.apply({ accounts: [{ email: 'gus@example.org', teams: [{ holon: slug }] }] });
    await sql(
      `with own as (insert into directory.notes (body) values ('own') returning id),
         shared as (insert into directory.notes (body) values ('both') returning id),
         linked as (insert into directory.holon_notes (holon_id, note_id, created_at) select $1::integer, id, now() from own union all select $1::integer, id, now() from shared)
       insert into directory.person_notes (person_id, note_id, created_at) select $2::integer, id, now() from shared`,
      [id, fixture.people['gus']],
    );
    expect(await remove(id)).toEqual({});
    expect(await fixture.directory.refusal(getHolon, { holon_id: id })).toMatchObject({ code: 'not_found' });
    expect(await sql(`select body from directory.notes where body in ('own', 'both')`)).toEqual([{ body: 'both' }]);
    const history = await sql(
      `select object_kind, action from directory.history where object_kind = 'holons' and object_id = $1
         or object_kind = 'accounts' and changes::jsonb ? 'teams' and action = 'update' order by id desc limit 2`,
      [id],
    );
    expect(history).toEqual(
      expect.arrayContaining([
        { object_kind: 'holons', action: 'delete' },
        { object_kind: 'accounts', action: 'update' },
      ]),
    );
    expect(await refusal(id)).toMatchObject({ code: 'not_found' });
  });

  it('rejects callers who could not create the holon at its place, and hides hidden holons', async () => {
    const { id } = await fresh();
    const camp = await fresh({ class: 'camp', parent_id: idOf('tent') });
    for (const [holon, actor] of [
      [id, fixture.guest],
      [camp.id, fixture.host],
      [idOf('summer'), fixture.host],
      [idOf('law'), fixture.host],
    ] as const) {
      expect(await refusal(holon, actor)).toMatchObject({ code: 'permission_denied' });
    }
    for (const holon of [idOf('hidden'), 0, -1, 2 ** 40, 999_999]) {
      expect(await refusal(holon)).toEqual(await refusal(888_888));
    }
    expect(await remove(camp.id, fixture.editor)).toEqual({});
  });

  it('returns counts of everything that depends on the holon, and deletes nothing', async () => {
    const { id, slug } = await fresh();
    await fixture.directory.apply({
      holons: [{ slug: `child-${slug}`, name: 'Child', class: 'secret', parent: slug }],
      memberships: [{ person: 'gus', holon: slug, journey: 'joining' }],
      relationships: [
        { from: slug, to: 'hidden' },
        { from: 'root', to: slug },
      ],
    });
    await sql(
      `insert into conversations.all_conversations (event_id, connected_ids, deleted_at, deletion)
       values ($1, '{}', null, null), (null, array[$1::integer], now(), '{"reason": "operator", "by": "x"}')`,
      [id],
    );
    const error = await refusal(id);
    expect(error).toMatchObject({ code: 'conflict', reason: 'in_use' });
    expect(error.details).toEqual({ counts: { children: 1, memberships: 1, relationships: 2, conversations: 2 } });
    expect(await fixture.directory.call(getHolon, { holon_id: id }, fixture.guest)).toMatchObject({ slug });
  });

  it('rejects a stale If-Match', async () => {
    const { id } = await fresh();
    expect(await refusal(id, fixture.host, '"stale"')).toMatchObject({ code: 'precondition_failed' });
  });

  it('deletes once when called concurrently, and never a holon that gets a child meanwhile', async () => {
    const { id } = await fresh();
    const results = await Promise.allSettled([remove(id), remove(id), remove(id)]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (let round = 0; round < 5; round++) {
      const { id: parent } = await fresh();
      const child = { name: 'Child', class: 'place', parent_id: parent };
      const [removed, created] = await Promise.allSettled([
        remove(parent),
        fixture.directory.call(createHolon, child, fixture.editor),
      ]);
      expect([removed.status, created.status].toSorted()).toEqual(['fulfilled', 'rejected']);
      if (created.status === 'rejected') expect(created.reason).toMatchObject({ code: 'bad_request' });
    }
  });
});

describe('events of a deleted holon (W21)', () => {
  const hidden = async (actor: Actor): Promise<readonly number[]> => {
    const accountId = actor.kind === 'user' ? actor.accountId : null;
    const { ids } = await fixture.directory.bus.call(
      listHiddenHolons,
      { account_id: accountId },
      { requestId: 'feed' },
    );
    return ids;
  };

  it('hides the deletion of a private holon from callers who could not see it', async () => {
    const secret = await fresh({ class: 'secret' });
    const open = await fresh();
    for (const { id } of [secret, open]) await remove(id, fixture.editor);
    expect(await hidden(fixture.guest)).toContain(secret.id);
    expect(await hidden(fixture.guest)).not.toContain(open.id);
    for (const actor of [fixture.host, fixture.editor]) expect(await hidden(actor)).not.toContain(secret.id);
  });
});
