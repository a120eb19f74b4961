/**
 * Deleted conversations (D67): hidden at once, stored with all dependent data, then restored or removed permanently.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestOf } from '#libs/infrastructure/contract';
import { encodeCursor } from '#libs/infrastructure/cursor';
import { listLockWaits, superuser } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { holdLocks } from '../../hold-locks.ts';
import { createBookingSimulator, createChain, type BookingSimulator, type Chain } from './booking-simulator.ts';
import { startConversationFixture, instant, waitFor, type ConversationFixture } from './fixture.ts';
import { byCli } from '../directory/erase.ts';

const { rpcs } = conversations;

let fixture: ConversationFixture;
let simulator: BookingSimulator;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
  simulator = createBookingSimulator(fixture);
});
afterAll(() => fixture.stop());

/** Creates a booked conversation that has every type of dependent data. */
async function createBooked(): Promise<{ id: number; chain: Chain }> {
  const chain = createChain();
  const { conversation_id: id } = await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
  if (typeof id !== 'number') throw new Error('nothing was booked');
  await fixture.patch(id, { infos: { publishing: { fields: { title: 'Kept' } } }, config: { mine: true } });
  await fixture.writeRoom(id, {
    phase: 'lounge',
    meetingId: `meeting-${id}`,
    participants: [{ customParticipantId: 'c', personId: fixture.personId('ada') }],
  });
  const [question] = (await fixture.get(id)).questions;
  const change = { questionId: question?.id ?? 0, occurredAt: '2029-06-01T00:00:00Z' };
  await fixture.call(rpcs.recordQuestionChange, { conversation_id: id, idempotency_key: 'once', change });
  return { id, chain };
}

const cancel = async (chain: Chain, link = 0) => {
  const receipt = await simulator.settle(chain.envelope('BOOKING_CANCELLED', link));
  expect(receipt).toMatchObject({ outcome: 'applied', message: 'Conversation deleted.' });
  return receipt;
};
const restore = (id: number) => fixture.call(rpcs.restoreConversation, { conversation_id: id });
const remove = (id: number) => fixture.call(rpcs.deleteConversation, { conversation_id: id });
const show = (id: number) => fixture.call(rpcs.showConversation, { id });
const listDeleted = async () => (await fixture.call(rpcs.listDeletedConversations, {})).items;
const stateOf = async (id: number) => (await fixture.call(rpcs.getState, { id })).state;

describe('a deleted conversation (D67)', () => {
  it('hides a deleted conversation from every operation, and lists it with time, reason and actor', async () => {
    const { id, chain } = await createBooked();
    const receipt = await cancel(chain);
    const at = '2029-05-01T10:00:00Z';
    const asked = [
      [rpcs.get, { conversation_id: id }],
      [rpcs.patch, { conversation_id: id, infos: { a: 1 } }],
      [rpcs.patch, { conversation_id: id }],
      [rpcs.readInfos, { conversation_id: id }],
      [rpcs.patchInfos, { conversation_id: id, infos: { a: 1 } }],
      [rpcs.readRoom, { conversation_id: id }],
      [rpcs.writeRoom, { conversation_id: id, write: { phase: 'x' } }],
      [
        rpcs.writeRoom,
        { conversation_id: id, write: { conversationStartedAt: at, captureEndedAt: '2029-05-01T11:00:00Z' } },
      ],
      [rpcs.recorded, { conversation_id: id, idempotency_key: 'k', write: {} }],
      [
        rpcs.recordQuestionChange,
        { conversation_id: id, idempotency_key: 'once', change: { questionId: 1, occurredAt: at } },
      ],
      [rpcs.summarize, { conversation_id: id }],
      [rpcs.describe, { id }],
      [rpcs.exists, { id }],
      [rpcs.getTranscriptSource, { conversation_id: id }],
      [rpcs.listConversationNotes, { conversation_id: id }],
      [rpcs.updateConversation, { conversation_id: id, step_slug: 'held' }],
      [rpcs.deleteConversation, { conversation_id: id }],
      [rpcs.importTranscript, { conversation_id: id }],
    ] as const;
    for (const [rpc, request] of asked) {
      const error = await fixture.refusal(rpc, request);
      expect([rpc.subject, error.code, error.reason]).toEqual([rpc.subject, 'not_found', undefined]);
    }
    const found = await fixture.call(rpcs.search, { person_id: fixture.personId('ada') });
    expect(found.map((item) => item.id)).not.toContain(id);
    const browsed = await fixture.call(rpcs.browseJourney, { journey_slug: 'open-circle' });
    expect(browsed.conversations.map((item) => item.id)).not.toContain(id);
    const [listed] = await listDeleted();
    expect(listed).toEqual({
      id,
      title: 'Kept',
      deleted_at: '2030-01-01T00:00:00Z',
      reason: 'booking_cancelled',
      by: `receipt ${receipt.id}`,
      removed_from: '2030-01-31T00:00:00Z',
    });
    expect(await stateOf(id)).toBe('deleted');
  });

  it('restores all data of a deleted conversation, with a note that names the actor', async () => {
    const { id, chain } = await createBooked();
    const before = await fixture.get(id);
    const notes = await fixture.notes(id);
    const receipt = await cancel(chain);
    await restore(id);
    expect((await show(id)).booking).toMatchObject({ cancelled: false });
    const { updated_at: restoredAt, ...after } = await fixture.get(id);
    expect({ ...after, updated_at: before.updated_at }).toEqual(before);
    expect(instant(restoredAt)).toBeGreaterThan(instant(before.updated_at));
    const [note, ...rest] = await fixture.notes(id);
    expect(note).toMatchObject({
      note_type: 'system',
      body: `Restored by account 1; deleted: booking cancelled (receipt ${receipt.id}), 2030-01-01T00:00:00Z`,
    });
    expect(rest).toEqual(notes);
    expect((await listDeleted()).map((item) => item.id)).not.toContain(id);
    expect(await stateOf(id)).toBe('present');
    // The idempotency key of the question change is still recorded.
    const [question] = before.questions;
    const change = { questionId: question?.id ?? 0, occurredAt: '2029-06-01T00:00:00Z' };
    const replay = await fixture.call(rpcs.recordQuestionChange, {
      conversation_id: id,
      idempotency_key: 'once',
      change,
    });
    expect(replay.replayed).toBe(true);
  });

  it('rejects the restore of a conversation that is not deleted', async () => {
    const { id } = await fixture.create();
    expect(await fixture.refusal(rpcs.restoreConversation, { conversation_id: id })).toMatchObject({
      code: 'conflict',
      reason: 'not_deleted',
    });
    expect(await fixture.refusal(rpcs.restoreConversation, { conversation_id: 999_999 })).toMatchObject({
      code: 'not_found',
    });
  });

  it('creates a new conversation by find-or-create when the matching one is deleted', async () => {
    const { id, chain } = await createBooked();
    const { start } = await fixture.get(id);
    await cancel(chain);
    const request = { person_id: fixture.personId('ben'), journey: 'open-circle', time: start ?? '' };
    const found = await fixture.call(rpcs.findActive, request);
    expect(found.map((item) => item.id)).not.toContain(id);
    expect(found).toHaveLength(1);
  });
});

describe('booking of a deleted conversation (D67)', () => {
  it('applies later booking events to a restored conversation', async () => {
    const { id, chain } = await createBooked();
    await cancel(chain);
    const bookingOf = async () => (await show(id)).booking;
    expect(await bookingOf()).toMatchObject({ cancelled: true });
    await restore(id);
    expect(await bookingOf()).toMatchObject({ cancelled: false });
    const moved = await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1));
    expect(moved).toMatchObject({ outcome: 'applied', message: 'Conversation rescheduled.', conversation_id: id });
    await cancel(chain, 1);
    expect(await stateOf(id)).toBe('deleted');
  });

  it('creates a new conversation for a reschedule after the deletion, and keeps it when the deleted one is restored', async () => {
    const { id, chain } = await createBooked();
    await cancel(chain);
    const { conversation_id: other } = await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1));
    expect(other).not.toBe(id);
    expect(await stateOf(id)).toBe('deleted');
    await restore(id);
    expect((await show(id)).booking).toBeNull();
    const moved = await simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 2));
    expect(moved).toMatchObject({ outcome: 'applied', conversation_id: other });
  });

  it('keeps a booking cancelled when its creation event arrives late', async () => {
    const { id, chain } = await createBooked();
    await cancel(chain);
    const late = await simulator.settle({ ...chain.envelope('BOOKING_CREATED', 0), again: true });
    expect(late.outcome).toBe('stale');
    expect(await stateOf(id)).toBe('deleted');
    expect(await simulator.booked(chain)).toEqual([]);
  });
});

describe('bulk-import key of a deleted conversation (D67)', () => {
  const importKey = async (key: string) => {
    const { items } = await fixture.call(rpcs.importConversations, {
      items: [{ key, infos: { key } }],
      dry_run: false,
    });
    return items[0]?.id ?? 0;
  };
  /** Deletes an imported conversation: assigns a booking to the conversation and cancels the booking. */
  async function deleteImported(id: number): Promise<void> {
    const chain = createChain();
    const { conversation_id: booked } = await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
    await fixture.env.sql('update conversations.bookings set conversation_id = $1 where conversation_id = $2', [
      id,
      booked,
    ]);
    await cancel(chain);
  }

  it('returns the restored conversation for its bulk-import key', async () => {
    const id = await importKey('key-back');
    await deleteImported(id);
    await restore(id);
    expect(await importKey('key-back')).toBe(id);
  });

  it('does not return the key of a restored conversation that another import has used since', async () => {
    const id = await importKey('key-taken');
    await deleteImported(id);
    const other = await importKey('key-taken');
    expect(other).not.toBe(id);
    await restore(id);
    expect(await importKey('key-taken')).toBe(other);
    expect((await fixture.get(id)).infos).toEqual({ key: 'key-taken' });
  });
});

describe('erasure of a person (D67)', () => {
  it('removes deleted conversations whose only participant is erased, and removes the person from the others', async () => {
    const shared = await createBooked();
    const alone = await createBooked();
    const [ada, ben] = [fixture.personId('ada'), fixture.personId('ben')];
    await fixture.env.sql(
      'update conversations.conversations set participant_ids = array[$2::integer], room = null where id = $1',
      [alone.id, ben],
    );
    await cancel(shared.chain);
    await cancel(alone.chain);
    const { items } = await fixture.call(rpcs.exportPerson, { person_id: ben, after: 0 });
    const exported = items as { id: number; deleted_at: string | null }[];
    for (const { id } of [shared, alone])
      expect(exported).toContainEqual(expect.objectContaining({ id, deleted_at: expect.stringMatching(/Z$/) }));
    const request = { person_id: ben, emails: ['ben@example.org'], name: null, after: 0, dry_run: false, by: byCli };
    await fixture.call(rpcs.erasePerson, request);
    expect(await stateOf(alone.id)).toBe('gone');
    await restore(shared.id);
    expect((await fixture.get(shared.id)).participants.map((person) => person.id)).toEqual([ada]);
  });
});

describe('retention of deleted conversations (D67)', () => {
  it('removes a conversation permanently after the retention days, not before', async () => {
    const { id, chain } = await createBooked();
    await cancel(chain);
    const { id: next, chain: nextChain } = await createBooked();
    fixture.clock.set('2030-01-01T00:00:00.000001Z');
    await cancel(nextChain);
    // The sweeper runs continuously: it has removed the first conversation, and the conversation deleted later remains.
    fixture.clock.set('2030-01-31T00:00:00.000001Z');
    await waitFor(async () => (await stateOf(id)) === 'gone');
    expect(await stateOf(next)).toBe('deleted');
    expect(await fixture.refusal(rpcs.restoreConversation, { conversation_id: id })).toMatchObject({
      code: 'not_found',
    });
    for (const table of ['notes', 'question_changes', 'pipeline_entries'])
      expect(await fixture.env.sql(`select 1 from conversations.${table} where conversation_id = $1`, [id])).toEqual(
        [],
      );
    fixture.clock.set('2030-01-31T00:00:00.000002Z');
    await waitFor(async () => (await stateOf(next)) === 'gone');
    fixture.clock.set('2030-01-01T00:00:00Z');
  });
});

describe('a booked conversation that is deleted while an event of its booking is processed (D19)', () => {
  it('creates another conversation in the journey of the booking event', async () => {
    const { id, chain } = await createBooked();
    const letGo = await holdLocks(
      fixture.env,
      'select from conversations.bookings where conversation_id = $1 for update',
      [id],
    );
    const waits = (count: number) => waitFor(async () => (await listLockWaits(fixture.env.sql)).length === count);
    const deletion = remove(id);
    await waits(1);
    const settled = simulator.settle(chain.envelope('BOOKING_RESCHEDULED', 1));
    await waits(2);
    expect(await letGo()).toBe('stopped');
    await deletion;
    const receipt = await settled;
    expect(receipt).toMatchObject({ outcome: 'applied', message: 'Conversation created.' });
    expect(await simulator.booked(chain)).toMatchObject([
      { id: receipt.conversation_id, start: '2030-01-15T11:00:00Z', journey_slug: 'open-circle' },
    ]);
  });
});

describe('conversations for operators (rules/operations-api#conversations)', () => {
  const list = (request: RequestOf<typeof rpcs.listAllConversations> = {}) =>
    fixture.call(rpcs.listAllConversations, { limit: 200, ...request });

  it('lists conversations in pages, newest first, with names instead of ids and without deleted conversations', async () => {
    const ids = [
      (await fixture.create()).id,
      (await fixture.create('open-circle', 'ben')).id,
      (await fixture.create()).id,
    ];
    await fixture.patch(ids[0] ?? 0, { infos: { publishing: { fields: { title: 'The first' } } } });
    const first = await list({ limit: 2 });
    expect(first.items.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect(first.next).toEqual(expect.any(String));
    const second = await list({ limit: 1, cursor: first.next ?? '' });
    expect(second.items).toEqual([
      expect.objectContaining({
        id: ids[0],
        title: 'The first',
        journey: 'open-circle',
        participants: [{ id: fixture.personId('ada'), name: 'Ada' }],
      }),
    ]);
    await remove(ids[1] ?? 0);
    expect((await list()).items.map(({ id }) => id)).not.toContain(ids[1]);
    expect((await list({ limit: (await list()).items.length })).next).toBeNull();
  });

  it('filters the list by journey, event, person and start, and reports an unknown slug', async () => {
    const { id } = await fixture.create('open-circle', 'ben');
    const { start } = (await list({ limit: 1 })).items[0] ?? {};
    const idsOf = async (request: Parameters<typeof list>[0]) => (await list(request)).items.map((item) => item.id);
    expect(await idsOf({ journey_slug: 'open-circle', person_id: fixture.personId('ben') })).toContain(id);
    expect(await idsOf({ person_id: fixture.personId('ada') })).not.toContain(id);
    expect(await idsOf({ since: start ?? '', person_id: fixture.personId('ben') })).toContain(id);
    expect(await idsOf({ until: start ?? '', person_id: fixture.personId('ben') })).not.toContain(id);
    expect(await idsOf({ event_slug: 'host-org' })).toEqual([]);
    expect(await idsOf({ person_id: 2 ** 40 })).toEqual([]);
    expect(await fixture.refusal(rpcs.listAllConversations, { journey_slug: 'opn-circle' })).toMatchObject({
      reason: 'journey_not_found',
      message: 'No journey has the slug "opn-circle".',
    });
    expect(await fixture.refusal(rpcs.listAllConversations, { event_slug: 'x' })).toMatchObject({
      reason: 'holon_not_found',
    });
    const positions = [
      ['accounts', 1],
      ['conversations', '1'],
      ['conversations', 2 ** 40],
      ['deleted-conversations', '2030-13-01T00:00:00Z', 1],
      ['deleted-conversations', '2030-01-01T00:00:00Z'],
    ];
    for (const rpc of [rpcs.listAllConversations, rpcs.listDeletedConversations])
      for (const cursor of ['', 'x', ...positions.map((values) => encodeCursor(values))])
        expect(await fixture.refusal(rpc, { cursor })).toMatchObject({ reason: 'bad_cursor' });
  });

  it('rejects callers who are not operators', async () => {
    const actor = { ...superuser, superuser: false };
    for (const call of [
      fixture.call(rpcs.listAllConversations, {}, actor),
      fixture.call(rpcs.listDeletedConversations, {}, actor),
      fixture.call(rpcs.showConversation, { id: 1 }, actor),
    ])
      await expect(call).rejects.toMatchObject({ code: 'permission_denied' });
  });

  it('shows all stored data, before and after a deletion', async () => {
    const { id } = await createBooked();
    const before = await show(id);
    expect(before).toMatchObject({
      id,
      title: 'Kept',
      infos: { publishing: { fields: { title: 'Kept' } } },
      config: { mine: true },
      room: { phase: 'lounge' },
      booking: { cancelled: false },
      deleted: null,
    });
    await remove(id);
    const deleted = {
      reason: 'account',
      by: 'account 1',
      deleted_at: '2030-01-01T00:00:00Z',
      removed_from: '2030-01-31T00:00:00Z',
    };
    expect(await show(id)).toEqual({ ...before, deleted });
    expect(await fixture.refusal(rpcs.showConversation, { id: 999_999 })).toMatchObject({ code: 'not_found' });
  });

  it('lists notes in pages, newest first', async () => {
    const { id } = await createBooked();
    const ids = Array.from({ length: 3 }, (_, n) => `Note ${n}`);
    for (const body of ids)
      await fixture.env.sql(
        `insert into conversations.notes (conversation_id, note_type, body) values ($1, 'system', $2)`,
        [id, body],
      );
    const page = (request: { limit?: number; cursor?: string }) =>
      fixture.call(rpcs.listConversationNotes, { conversation_id: id, ...request });
    const { items, next } = await page({ limit: 2 });
    expect(items.map(({ body }) => body)).toEqual(['Note 2', 'Note 1']);
    const { items: rest } = await page({ cursor: next ?? '' });
    expect(rest[0]?.body).toBe('Note 0');
    expect(rest).toEqual((await fixture.notes(id)).slice(2));
  });

  it('hides a deleted conversation until it is restored, and rejects a second deletion', async () => {
    const { id } = await createBooked();
    expect(await remove(id)).toEqual({ conversation_id: id });
    expect(await stateOf(id)).toBe('deleted');
    expect(await fixture.refusal(rpcs.get, { conversation_id: id })).toMatchObject({ code: 'not_found' });
    expect((await listDeleted())[0]).toMatchObject({
      id,
      reason: 'account',
      by: 'account 1',
      removed_from: '2030-01-31T00:00:00Z',
    });
    const { id: later } = await createBooked();
    await remove(later);
    await fixture.env.sql(
      `update conversations.all_conversations set deleted_at = deleted_at - interval '1 second' where id = $1`,
      [id],
    );
    const listed = (await listDeleted()).map((item) => item.id);
    expect(listed.indexOf(later)).toBeLessThan(listed.indexOf(id));
    const firstPage = await fixture.call(rpcs.listDeletedConversations, { limit: 1 });
    const secondPage = await fixture.call(rpcs.listDeletedConversations, { limit: 1, cursor: firstPage.next ?? '' });
    expect([...firstPage.items, ...secondPage.items].map((item) => item.id)).toEqual(listed.slice(0, 2));
    for (const gone of [id, 999_999])
      expect(await fixture.refusal(rpcs.deleteConversation, { conversation_id: gone })).toMatchObject({
        code: 'not_found',
      });
    await restore(id);
    expect(await stateOf(id)).toBe('present');
  });
});

describe('the table all_conversations, which includes deleted conversations', () => {
  it('is used only by bulk import, deletion, the search of deleted conversations and person data', () => {
    const folder = join(import.meta.dirname, '..', '..', '..', 'services', 'conversations');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /^(?!entities|migrations).*\.ts$/.test(file),
    );
    const naming = files.filter((file) => readFileSync(join(folder, file), 'utf8').includes('all_conversations'));
    // Only these files use the table that includes deleted conversations. The bulk import uses only its id sequence.
    expect(naming.toSorted()).toEqual([
      'bulk-import/statements.ts',
      'deletion/statements.ts',
      'discovery/statements.ts',
      'person-data/statements.ts',
    ]);
  });
});
