/** Journeys that are changed or deleted while conversations have them (W5, W14). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { type ConversationFixture, startConversationFixture } from './fixture.ts';

const { rpcs } = directory;
const conversationRpcs = conversations.rpcs;
const byEditor = {
  kind: 'user',
  accountId: 1,
  personId: null,
  superuser: false,
  globalEditor: false,
  coherenceAccess: false,
  workspaceEditor: true,
} as const;

let fixture: ConversationFixture;
beforeAll(async () => (fixture = await startConversationFixture(import.meta.url)));
afterAll(() => fixture.stop());

/** Attaches the journeys to an event of their own. */
const attach = (slug: string, journeys: string[]) =>
  fixture.apply({ holons: [{ slug: `${slug}-event`, name: 'E', class: 'event', journeys }] });
async function createJourney(slug: string): Promise<void> {
  const steps = [{ slug: 'first' }, { slug: 'second' }];
  const questions = [{ text: 'One?' }, { text: 'Two?' }];
  await fixture.call(rpcs.createJourney, { slug, name: slug, is_conversation: true, steps, questions }, byEditor);
  await attach(slug, [slug]);
}
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'ok',
    (error: unknown) => error,
  );

describe('journeys of conversations (W5)', () => {
  it('shows changed questions at once, and keeps an archived one in recorded changes', async () => {
    await createJourney('changed');
    const { id, questions } = await fixture.create('changed');
    const [one] = questions;
    const changed = { questionId: one?.id ?? 0, occurredAt: '2030-01-01T00:00:00Z' };
    await fixture.call(conversationRpcs.recordQuestionChange, {
      conversation_id: id,
      idempotency_key: 'k',
      change: changed,
    });
    const request = { journey_slug: 'changed', question_id: one?.id ?? 0 };
    await fixture.call(rpcs.updateQuestion, { ...request, is_archived: true }, byEditor);
    await waitFor(async () => (await fixture.get(id)).questions.length === 1);
    const { questions: remaining, question_state: state } = await fixture.get(id);
    expect(remaining.map(({ text, order }) => [text, order])).toEqual([['Two?', 0]]);
    expect(state.changes).toMatchObject([{ question_id: one?.id }]);
    const { items } = await fixture.call(rpcs.listQuestions, { journey_slug: 'changed' }, byEditor);
    expect(items[0]).toEqual({ id: one?.id, text: 'One?', position: 0, is_archived: true });
    await fixture.call(rpcs.updateStep, { journey_slug: 'changed', step_slug: 'first', title: 'Renamed' }, byEditor);
    await waitFor(async () => (await fixture.get(id)).step_title === 'Renamed');
  });

  it('are not deleted while conversations have them, deleted conversations included (W14)', async () => {
    await createJourney('used');
    const { id } = await fixture.create('used');
    await attach('used', []);
    const inUse = (conversations: number) => ({
      code: 'conflict',
      reason: 'in_use',
      details: { counts: expect.objectContaining({ memberships: 0, conversations }) },
    });
    const deleteJourney = () => errorOf(fixture.call(rpcs.deleteJourney, { journey_slug: 'used' }, byEditor));
    const deleteStep = (step: string) =>
      errorOf(fixture.call(rpcs.deleteStep, { journey_slug: 'used', step_slug: step }, byEditor));
    expect(await deleteJourney()).toMatchObject(inUse(1));
    expect(await deleteStep('first')).toMatchObject(inUse(1));
    await fixture.call(conversationRpcs.deleteConversation, { conversation_id: id });
    expect(await deleteJourney()).toMatchObject(inUse(1));
    expect(await deleteStep('first')).toMatchObject(inUse(1));
    expect(await deleteStep('second')).toBe('ok');
    await fixture.env.sql('delete from conversations.all_conversations where id = $1', [id]);
    expect(await deleteStep('first')).toBe('ok');
    expect(await deleteJourney()).toBe('ok');
    expect(await deleteJourney()).toMatchObject({ code: 'not_found' });
    const entries = await fixture.env.sql<{ action: string }>(
      `select action from directory.history where object_key = 'used' order by id`,
    );
    expect(entries.map(({ action }) => action)).toEqual(['create', 'update', 'update', 'delete']);
  });

  it('are not deleted while memberships and catalogues have them, also concurrent ones (W14)', async () => {
    await createJourney('member');
    await fixture.apply({
      classes: [{ slug: 'member-class', journeys: ['member'] }],
      holons: [{ slug: 'member-holon', name: 'H', class: 'member-class', journeys: ['member'] }],
      people: [{ key: 'member', name: 'M' }],
      memberships: [{ person: 'member', holon: 'member-holon', journey: 'member' }],
    });
    const refused = await errorOf(fixture.call(rpcs.deleteJourney, { journey_slug: 'member' }, byEditor));
    expect(refused).toMatchObject({
      details: { counts: { memberships: 1, relationships: 0, catalogues: 3, conversations: 0 } },
    });
    const step = { journey_slug: 'member', step_slug: 'first' };
    expect(await errorOf(fixture.call(rpcs.deleteStep, step, byEditor))).toMatchObject({
      details: { counts: { memberships: 1, relationships: 0, conversations: 0 } },
    });
    await fixture.call(rpcs.deleteStep, { ...step, step_slug: 'second' }, byEditor);
    const { steps } = await fixture.call(rpcs.getJourney, { slug: 'member' }, byEditor);
    expect(steps.map(({ slug, order }) => [slug, order])).toEqual([['first', 0]]);
  });

  it('are deleted, or get a conversation that is created at the same time, never both (W14)', async () => {
    const outcomes = new Set<string>();
    for (let round = 0; round < 8; round++) {
      const slug = `raced-${round}`;
      const { journey } = await fixture.call(
        rpcs.createJourney,
        { slug, name: slug, is_conversation: true, steps: [{ slug: 'first' }] },
        byEditor,
      );
      expect(journey.slug).toBe(slug);
      const holon = await fixture.apply({ holons: [{ slug: `${slug}-event`, name: 'E', class: 'event' }] });
      const remove = [
        () => fixture.call(rpcs.deleteJourney, { journey_slug: slug }, byEditor),
        () => fixture.call(rpcs.deleteHolon, { holon_id: holon.ids['holons']?.[`${slug}-event`] ?? 0 }),
      ][round % 2];
      const created = errorOf(
        fixture.call(conversationRpcs.createConversation, { journey_slug: slug, event_slug: `${slug}-event` }),
      );
      const [conversation, removal] = await Promise.all([created, errorOf(remove?.() ?? Promise.resolve())]);
      expect([conversation, removal].filter((result) => result === 'ok').length).toBe(1);
      outcomes.add(conversation === 'ok' ? 'created' : 'deleted');
      if (removal !== 'ok') expect(removal).toMatchObject({ reason: 'in_use' });
      else expect(['unavailable', 'bad_request']).toContain((conversation as { code: string }).code);
    }
    expect(outcomes.size).toBeGreaterThan(0);
  });

  it('refuse a conversation while their deletion is in progress (W14)', async () => {
    await createJourney('leaving');
    const [row] = await fixture.env.sql<{ id: number }>(`select id from directory.journeys where slug = 'leaving'`);
    const held = fixture.env.sql(`do $$ begin
      perform pg_advisory_xact_lock(hashtextextended('journey/${row?.id}', 0));
      while not exists (select from conversations.all_conversations where config ? 'released') loop perform pg_sleep(0.01); end loop;
    end $$`);
    const create = () => errorOf(fixture.call(conversationRpcs.createConversation, { journey_slug: 'leaving' }));
    await waitFor(async () => ((await create()) as { code?: string }).code === 'unavailable');
    const other = await fixture.create();
    await fixture.env.sql(`update conversations.all_conversations set config = '{"released": true}' where id = $1`, [
      other.id,
    ]);
    await held;
    expect(await create()).toBe('ok');
  });
});
