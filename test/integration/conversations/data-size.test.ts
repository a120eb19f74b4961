/**
 * The size limit of `infos` and `config` (D63), tested at its boundary for every operation or job that writes these
 * fields.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJobs } from '#libs/infrastructure/jobs';
import { parseJson } from '#libs/infrastructure/json';
import { createDatabase } from '#libs/infrastructure/orm';
import { conversations } from '#services/conversations';
import { createBookingSimulator, createChain, type BookingSimulator } from './booking-simulator.ts';
import { startConversationFixture, waitFor, type ConversationFixture } from './fixture.ts';

const { rpcs, jobs: declared } = conversations;
const limit = 1_048_576;

let fixture: ConversationFixture;
let simulator: BookingSimulator;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
  simulator = createBookingSimulator(fixture);
});
afterAll(() => fixture.stop());

const audio = {
  path: 'audio/a',
  name: 'a.mp3',
  content_type: 'audio/mpeg',
  size_bytes: 12,
  source: 'upload',
  created_at: '2030-01-01T00:00:00Z',
};
const attachment = { blob_id: 1, audio, actor_account_id: null, actor_person_id: null };

/** A writer of the field, either an operation, which returns the error, or a job, whose outcome contains the error. */
interface Writer {
  readonly name: string;
  readonly field: 'infos' | 'config';
  /** Creates a conversation for the writer; default: a new one. */
  create?(): Promise<number>;
  write(id: number): Promise<unknown>;
  /** Checks that the writer reports a too large value; default: the call fails with the error. */
  refuse?(id: number): Promise<void>;
}

const call =
  (run: (id: number) => [Parameters<ConversationFixture['call']>[0], unknown]) =>
  (id: number): Promise<unknown> =>
    fixture.call(...(run(id) as Parameters<ConversationFixture['call']>));
const imported = (field: string) => ({
  create: async () => {
    const key = `size-${++created}`;
    const { items } = await fixture.call(rpcs.importConversations, { items: [{ key }], dry_run: false });
    keys.set(items[0]?.id ?? 0, key);
    return items[0]?.id ?? 0;
  },
  write: (id: number) =>
    fixture.call(rpcs.importConversations, {
      items: [{ key: keys.get(id) ?? '', [field]: { given: 'x' } }],
      dry_run: false,
    }),
  refuse: async (id: number) => {
    const key = keys.get(id) ?? '';
    for (const dry_run of [true, false]) {
      const error = await fixture.refusal(rpcs.importConversations, {
        items: [{ key, [field]: { given: 'x' } }],
        dry_run,
      });
      expect(error).toMatchObject({ code: 'payload_too_large', reason: 'conversation_data_too_large' });
      expect(error.message).toContain(`Conversation "${key}": `);
    }
  },
});
let created = 0;
const keys = new Map<number, string>();
const chains = new Map<number, ReturnType<typeof createChain>>();

const writers: readonly Writer[] = [
  {
    name: 'conversations.patch',
    field: 'infos',
    write: call((id) => [rpcs.patch, { conversation_id: id, infos: { given: 'é"\n' } }]),
  },
  {
    name: 'conversations.patch',
    field: 'config',
    write: call((id) => [rpcs.patch, { conversation_id: id, config: { given: [1, {}] } }]),
  },
  {
    name: 'infos.patch',
    field: 'infos',
    write: call((id) => [rpcs.patchInfos, { conversation_id: id, infos: { given: 1e21 } }]),
  },
  {
    name: 'room.write',
    field: 'config',
    write: call((id) => [rpcs.writeRoom, { conversation_id: id, write: { phase: 'lounge', version: 1 } }]),
  },
  {
    name: 'room.write that completes the window',
    field: 'config',
    write: call((id) => [
      rpcs.writeRoom,
      {
        conversation_id: id,
        write: { conversationStartedAt: '2030-01-01T10:00:00Z', captureEndedAt: '2030-01-01T11:00:00Z' },
      },
    ]),
  },
  ...(['infos', 'config'] as const).map((field) => ({
    name: 'conversations.recorded',
    field,
    write: call((id) => [
      rpcs.recorded,
      { conversation_id: id, idempotency_key: null, write: { [field]: { given: true } } },
    ]),
  })),
  {
    name: 'conversations.recorded with a boundary',
    field: 'config',
    write: call((id) => [
      rpcs.recorded,
      { conversation_id: id, idempotency_key: null, write: { captureEndedAt: '2030-01-01T11:00:00Z' } },
    ]),
  },
  {
    name: 'audio.attach',
    field: 'infos',
    write: call((id) => [rpcs.attachAudio, { conversation_id: id, ...attachment }]),
  },
  { name: 'import.apply', field: 'infos', ...imported('infos') },
  { name: 'import.apply', field: 'config', ...imported('config') },
  { name: 'import.apply of a room', field: 'config', ...imported('room') },
  {
    name: 'booking webhook',
    field: 'config',
    create: async () => {
      const chain = createChain();
      const { conversation_id: id } = await simulator.settle(chain.envelope('BOOKING_CREATED', 0));
      chains.set(id ?? 0, chain);
      return id ?? 0;
    },
    write: async (id) => {
      const receipt = await simulator.settle(
        chains.get(id)?.envelope('BOOKING_RESCHEDULED', 1, { title: 'Another title' }),
      );
      expect(receipt.outcome).toBe('applied');
    },
    refuse: async (id) => {
      const receipt = await simulator.settle(
        chains.get(id)?.envelope('BOOKING_RESCHEDULED', 1, { title: 'Another title' }),
      );
      expect(receipt).toMatchObject({ outcome: 'refused_data_too_large', message: expect.stringContaining('1 MiB') });
    },
  },
  {
    name: 'job conversations.pipeline-finished',
    field: 'infos',
    write: async (id) =>
      expect(await work(declared.pipelineFinished, finished(id))).toMatchObject({ status: 'succeeded' }),
    refuse: async (id) =>
      expect(await work(declared.pipelineFinished, finished(id))).toMatchObject({
        status: 'dead',
        error: expect.stringContaining('1 MiB'),
      }),
  },
  {
    name: 'job conversations.attach-audio',
    field: 'infos',
    write: async (id) =>
      expect(await work(declared.attachAudio, { conversation_id: id, ...attachment })).toMatchObject({
        status: 'succeeded',
      }),
    refuse: async (id) =>
      expect(await work(declared.attachAudio, { conversation_id: id, ...attachment })).toMatchObject({
        status: 'dead',
        error: expect.stringContaining('1 MiB'),
      }),
  },
];

function finished(id: number) {
  const publishing = { fields: { title: { value: 'A title', provenance: { source: 'test' } } } };
  return {
    conversation_id: id,
    step_id: null,
    pipeline_job: 'publishing_summary',
    note_key: 'size',
    note: null,
    advance: false,
    publishing,
  };
}

/** Queues a job in this service and waits until the job ends. */
async function work(job: (typeof declared)[keyof typeof declared], payload: object): Promise<unknown> {
  const { settings, logger } = fixture.env;
  const url = settings['DATABASE_URL'] ?? '';
  const db = await createDatabase({ url, schema: 'conversations', poolSize: 1, logger, applicationName: 'enqueue' });
  const jobs = createJobs({ contract: conversations, db, bus: fixture.bus, logger });
  const id = await jobs.transaction((tx) => jobs.enqueue(tx, job, payload as never));
  await db.close();
  return waitFor(async () => {
    const [row] = await fixture.env.sql<{ status: string }>(
      'select state as status, error from conversations.jobs where id = $1',
      [id],
    );
    return row?.status === 'succeeded' || row?.status === 'dead' ? row : undefined;
  });
}

/** Returns the field as a read of the conversation returns it. */
async function served(id: number, field: 'infos' | 'config'): Promise<string> {
  const reply = await fixture.bus.callRaw(rpcs.get, { conversation_id: id }, { requestId: 'test' });
  if (reply.kind !== 'bytes') {
    const chunks: Uint8Array[] = [];
    for await (const chunk of reply.chunks) chunks.push(chunk);
    return cut(Buffer.concat(chunks).toString('utf8'), field);
  }
  return cut(Buffer.from(reply.bytes).toString('utf8'), field);
}

/** Returns the JSON text of one field of ConversationOut, found by the names of its neighbours. */
function cut(text: string, field: 'infos' | 'config'): string {
  const [from, to] = field === 'infos' ? ['"infos":', ',"config":'] : [',"config":', ',"start":'];
  return text.slice(text.indexOf(from) + from.length, text.indexOf(to));
}

/** Creates a conversation whose field is filled up with a text of `length` characters. */
async function createFilled({ create, field }: Writer, length: number): Promise<number> {
  const id = await (create?.() ?? fixture.create().then((conversation) => conversation.id));
  await fixture.env.sql(
    `update conversations.conversations set ${field} = ${field} || jsonb_build_object('fill', repeat('x', $2)) where id = $1`,
    [id, length],
  );
  return id;
}

describe('size limit of infos and config (D63)', () => {
  it.each(writers)('$name fills $field up to exactly 1 MiB of served text', async (writer) => {
    const measured = await createFilled(writer, 0);
    await writer.write(measured);
    const room = limit - Buffer.byteLength(await served(measured, writer.field));

    const exact = await createFilled(writer, room);
    await writer.write(exact);
    expect(Buffer.byteLength(await served(exact, writer.field))).toBe(limit);

    const over = await createFilled(writer, room + 1);
    const before = await fixture.get(over);
    if (writer.refuse === undefined)
      await expect(writer.write(over)).rejects.toMatchObject({
        code: 'payload_too_large',
        reason: 'conversation_data_too_large',
      });
    else await writer.refuse(over);
    expect(await fixture.get(over)).toEqual(before);
  });

  it('audio.check returns the same result as audio.attach, without a change', async () => {
    const writer: Writer = {
      name: 'audio.attach',
      field: 'infos',
      write: call((id) => [rpcs.attachAudio, { conversation_id: id, ...attachment }]),
    };
    const measured = await createFilled(writer, 0);
    await writer.write(measured);
    const room = limit - Buffer.byteLength(await served(measured, 'infos'));
    const [exact, over] = [await createFilled(writer, room), await createFilled(writer, room + 1)];
    expect(await fixture.call(rpcs.checkAudio, { conversation_id: exact, audio })).toEqual({ ok: true });
    const refusal = await fixture.refusal(rpcs.checkAudio, { conversation_id: over, audio });
    expect(refusal).toMatchObject({ code: 'payload_too_large', reason: 'conversation_data_too_large' });
    expect((await fixture.get(exact)).infos).not.toHaveProperty('audio');
  });

  it('infos.patch rejects exponents that expand beyond the limit', async () => {
    const { id } = await fixture.create();
    const given = parseJson(`[${Array.from({ length: 2_000 }, () => '1e1000').join(',')}]`);
    const error = await fixture.refusal(rpcs.patchInfos, { conversation_id: id, infos: { given } });
    expect(error).toMatchObject({ code: 'payload_too_large', reason: 'conversation_data_too_large' });
    expect((await fixture.get(id)).infos).toEqual({});
  });

  it('questions.record-change rejects a state of more than 1 MiB', async () => {
    const conversation = await fixture.create();
    const [question] = conversation.questions;
    await fixture.env.sql(
      `insert into conversations.question_changes (conversation_id, question_id, key, occurred_at)
       select $1, $2, 'seed-' || g, timestamptz '2029-01-01T00:00:00Z' + g * interval '1.5 seconds' from generate_series(1, 20000) g`,
      [conversation.id, question?.id],
    );
    const change = { questionId: question?.id ?? 0, occurredAt: '2029-06-01T00:00:00Z' };
    const error = await fixture.refusal(rpcs.recordQuestionChange, {
      conversation_id: conversation.id,
      idempotency_key: 'one-more',
      change,
    });
    expect(error).toMatchObject({ code: 'payload_too_large', reason: 'conversation_data_too_large' });
    expect((await fixture.get(conversation.id)).question_state.changes).toEqual([]);
  });

  it('keeps oversized data of an earlier release, and accepts changes that do not enlarge it', async () => {
    const { id } = await fixture.create();
    await fixture.env.sql('alter table conversations.all_conversations disable trigger user');
    await fixture.env.sql(
      `update conversations.conversations set infos = jsonb_build_object('fill', repeat('x', 2000000)) where id = $1`,
      [id],
    );
    await fixture.env.sql('alter table conversations.all_conversations enable trigger user');
    await fixture.patch(id, { config: { given: 1 } });
    await fixture.writeRoom(id, { phase: 'lounge' });
    await fixture.recorded(id);
    const error = await fixture.refusal(rpcs.patch, { conversation_id: id, infos: { more: 1 } });
    expect(error).toMatchObject({ code: 'payload_too_large' });
    await fixture.patch(id, { infos: { fill: 'less' } });
    expect((await fixture.get(id)).infos).toEqual({ fill: 'less' });
  });
});
