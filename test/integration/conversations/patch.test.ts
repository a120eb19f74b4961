import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { entityTag } from '#libs/infrastructure/etag';
import { parseJson } from '#libs/infrastructure/json';
import { conversations } from '#services/conversations';
import { startConversationFixture, type ConversationFixture } from './fixture.ts';

let fixture: ConversationFixture;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const refusal = (id: number, body: object) =>
  fixture.refusal(conversations.rpcs.patch, { conversation_id: id, ...body });
/** Returns the reply text as the gateway forwards it. */
const readText = async (id: number): Promise<string> => {
  const reply = await fixture.bus.callRaw(conversations.rpcs.get, { conversation_id: id }, { requestId: 'test' });
  if (reply.kind !== 'bytes') throw new Error('a single conversation is one message');
  return Buffer.from(reply.bytes).toString('utf8');
};

describe('conversations.get (rules/conversations#read-and-patch)', () => {
  it.each([999_999, 0, -7, 2 ** 31, 1e15])('returns 404 without a reason for conversation %d', async (id) => {
    const error = await fixture.refusal(conversations.rpcs.get, { conversation_id: id });
    expect(error).toMatchObject({ code: 'not_found', reason: undefined, message: 'Not Found' });
  });

  it('returns empty strings and null for unset fields (rules/conversations#conversationout; D18h)', async () => {
    const [row] = await fixture.env.sql<{ id: number }>(
      'insert into conversations.conversations default values returning id',
    );
    expect(await fixture.get(row?.id ?? 0)).toMatchObject({
      participants: [],
      connected: [],
      infos: {},
      config: {},
      start: null,
      finish: null,
      journey_slug: '',
      journey_name: '',
      journey_description: null,
      step_slug: '',
      step_title: '',
      texts: {},
      questions: [],
    });
  });

  it('returns the connected holons with id, name, type and slug', async () => {
    const { id } = await fixture.create();
    await fixture.call(conversations.rpcs.updateConversation, { conversation_id: id, connected_slugs: ['host-org'] });
    expect((await fixture.get(id)).connected).toEqual([
      { id: fixture.ids['holons']?.['host-org'], name: 'Host', type: 'group', slug: 'host-org' },
    ]);
  });

  it('prints instants with six digits of fraction or none (rules/http#datetimes-out)', async () => {
    const [row] = await fixture.env.sql<{ id: number }>(
      `insert into conversations.conversations (start_at, finish_at) values ('0001-01-01T00:00:00.5Z', '9999-12-31T23:59:59Z') returning id`,
    );
    expect(await fixture.get(row?.id ?? 0)).toMatchObject({
      start: '0001-01-01T00:00:00.500000Z',
      finish: '9999-12-31T23:59:59Z',
    });
  });
});

describe('conversations.patch merges shallowly (rules/conversations#read-and-patch)', () => {
  it('replaces the whole value of each supplied key and keeps the other keys, in infos and config', async () => {
    const { id } = await fixture.create();
    await fixture.patch(id, { infos: { a: { x: 1, y: 2 }, b: 1 }, config: { c: [1, 2] } });
    const patched = await fixture.patch(id, { infos: { a: { z: 3 } }, config: { d: null } });
    expect(patched.infos).toEqual({ a: { z: 3 }, b: 1 });
    expect(patched.config).toEqual({ c: [1, 2], d: null });
    expect(await fixture.get(id)).toEqual(patched);
  });

  it('keeps numbers beyond 2^53, keys such as __proto__, and deep nesting (rules/http#numbers-and-keys)', async () => {
    const { id } = await fixture.create();
    const infos =
      '{"big":123456789012345678901234567890,"__proto__":{"x":1},"constructor":"c","precise":0.10000000000000000001}';
    await fixture.patch(id, { infos: parseJson(infos) as object });
    const text = await readText(id);
    expect(text).toContain('123456789012345678901234567890');
    expect(text).toContain('0.10000000000000000001');
    expect(text).toContain('"__proto__": {"x": 1}');
    const deep = parseJson('['.repeat(60) + ']'.repeat(60));
    expect(await fixture.patch(id, { infos: { deep } })).toMatchObject({ infos: { deep } });
  });

  it('increases updated_at when only the digits of a number change, not when nothing changes (D9a)', async () => {
    const { id } = await fixture.create();
    const patched = async (store: 'infos' | 'config', digits: string): Promise<string> =>
      (await fixture.patch(id, { [store]: parseJson(`{"x":${digits}}`) as object })).updated_at;
    for (const store of ['infos', 'config'] as const) {
      const first = await patched(store, '1');
      const second = await patched(store, '1.0');
      expect(second).not.toBe(first);
      expect(await readText(id)).toContain(`"${store}":{"x": 1.0}`);
      expect(await patched(store, '1.0')).toBe(second);
    }
  });

  it('rejects a number of any length as infos', async () => {
    const { id } = await fixture.create();
    for (const infos of ['1', '12345678901234567890', '1.50']) {
      expect(await refusal(id, parseJson(`{"infos":${infos}}`) as object)).toMatchObject({
        code: 'bad_request',
        reason: undefined,
      });
    }
  });

  it('merges any sequence of patches with the result of Object.assign', async () => {
    const store = fc.dictionary(
      fc.constantFrom('a', 'b', 'c', 'd'),
      fc.jsonValue({ maxDepth: 2, noUnicodeString: false }).filter(isStorable),
      { maxKeys: 3 },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ infos: store, config: store }), { maxLength: 5 }), async (patches) => {
        const { id } = await fixture.create();
        for (const patch of patches) await fixture.patch(id, patch);
        const { infos, config } = await fixture.get(id);
        const merged = (key: 'infos' | 'config') =>
          JSON.parse(JSON.stringify(Object.assign({}, ...patches.map((patch) => patch[key])))) as object;
        expect(infos).toEqual(merged('infos'));
        expect(config).toEqual(merged('config'));
      }),
      { numRuns: 25 },
    );
  });

  it('keeps the keys of all of 50 concurrent patches', async () => {
    const { id } = await fixture.create();
    const keys = Array.from({ length: 50 }, (_, index) => `key${index}`);
    const replies = await Promise.all(
      keys.map((key) => fixture.patch(id, { infos: { [key]: key }, config: { [key]: key } })),
    );
    const { infos, config } = await fixture.get(id);
    expect(Object.keys(infos).toSorted()).toEqual(keys.toSorted());
    expect(Object.keys(config).toSorted()).toEqual(keys.toSorted());
    expect(new Set(replies.map((reply) => reply.updated_at)).size).toBe(50);
  });

  it('keeps room state in config when other keys are patched', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, { phase: 'lounge' });
    const patched = await fixture.patch(id, { config: { own: 1 } });
    expect(patched.config).toEqual({ own: 1, 'enter-coherence': { phase: 'lounge' } });
  });
});

describe('conversations.patch namespace rules (rules/conversations#namespaces; D9b)', () => {
  const both = [
    'enter-coherence',
    'booking',
    'pipeline',
    'pipeline.import',
    'idempotency',
    'question_changes',
    'question_timings',
  ];
  const onlyInfos = ['publishing', 'publishing_status', 'publish_decisions', 'publishing_approval'];

  it.each(
    both.flatMap(
      (key) =>
        [
          ['infos', key],
          ['config', key],
        ] as const,
    ),
  )('rejects in %s the reserved key %s, even with the value null, and writes nothing', async (field, key) => {
    const { id, updated_at } = await fixture.create();
    for (const value of [{}, null, 1]) {
      const error = await refusal(id, { infos: { fine: 1 }, config: { fine: 1 }, [field]: { fine: 1, [key]: value } });
      expect(error).toMatchObject({ code: 'bad_request', reason: 'invalid_namespace_placement' });
      expect(error.message).toContain(key);
    }
    expect(await fixture.get(id)).toMatchObject({ infos: {}, config: {}, updated_at });
  });

  it.each(onlyInfos)('rejects the key %s in config and accepts it in infos', async (key) => {
    const { id } = await fixture.create();
    expect(await refusal(id, { config: { [key]: {} } })).toMatchObject({ reason: 'invalid_namespace_placement' });
    expect(await fixture.patch(id, { infos: { [key]: { any: 1 } } })).toMatchObject({ infos: { [key]: { any: 1 } } });
  });

  it.each(['audio', 'anything', 'pipelines', 'bookings', 'enter_coherence', ''])(
    'accepts the key "%s", which is not reserved, in infos and config',
    async (key) => {
      const { id } = await fixture.create();
      expect(await fixture.patch(id, { infos: { [key]: 1 }, config: { [key]: 2 } })).toMatchObject({
        infos: { [key]: 1 },
        config: { [key]: 2 },
      });
    },
  );

  it('names in the error the endpoint to use for a reserved key, or calls the key internal', async () => {
    const { id } = await fixture.create();
    expect((await refusal(id, { config: { 'enter-coherence': {} } })).message).toContain(
      'POST /conversations/{id}/enter-coherence',
    );
    expect((await refusal(id, { infos: { question_changes: [] } })).message).toContain('question-changes');
    expect((await refusal(id, { config: { publishing: {} } })).message).toContain('infos');
    for (const key of ['booking', 'pipeline', 'idempotency'])
      expect((await refusal(id, { infos: { [key]: {} } })).message).toContain('internal use');
  });
});

describe('conversations.patch guards (D9, D9a)', () => {
  it('accepts the current updated_at with any offset, and treats null as absent', async () => {
    const { id, updated_at } = await fixture.create();
    const first = await fixture.patch(id, { infos: { a: 1 }, expected_updated_at: updated_at });
    const shifted = first.updated_at
      .replace(/T(\d{2})/, (_, hour: string) => `T${String((Number(hour) + 1) % 24).padStart(2, '0')}`)
      .replace('Z', '+01:00');
    const sameInstant = Number(first.updated_at.slice(11, 13)) < 23 ? shifted : first.updated_at;
    await fixture.patch(id, { infos: { a: 2 }, expected_updated_at: sameInstant });
    expect(await fixture.patch(id, { infos: { a: 3 }, expected_updated_at: null })).toMatchObject({ infos: { a: 3 } });
  });

  it('returns 409 stale_conversation with the current updated_at if expected_updated_at differs by a microsecond', async () => {
    const { id, updated_at } = await fixture.create();
    await fixture.env.sql(
      `update conversations.conversations set updated_at = '2030-01-01T00:00:00.000001Z' where id = $1`,
      [id],
    );
    for (const stale of ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00.000002Z', updated_at]) {
      const error = await refusal(id, { infos: { a: 1 }, expected_updated_at: stale });
      expect(error).toMatchObject({
        code: 'conflict',
        reason: 'stale_conversation',
        details: { updated_at: '2030-01-01T00:00:00.000001Z' },
      });
    }
    expect((await fixture.get(id)).infos).toEqual({});
  });

  it('accepts exactly one of two concurrent patches with the same expected_updated_at', async () => {
    const { id, updated_at } = await fixture.create();
    const results = await Promise.allSettled(
      [1, 2].map((value) => fixture.patch(id, { infos: { value }, expected_updated_at: updated_at })),
    );
    expect(results.map((result) => result.status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('accepts If-Match with the ETag, a list or *, and otherwise returns 412 with updated_at', async () => {
    const { id } = await fixture.create();
    const tag = entityTag(await readText(id));
    expect(await refusal(id, { infos: { a: 1 }, if_match: '"other"' })).toMatchObject({
      code: 'precondition_failed',
      reason: 'precondition_failed',
      details: { updated_at: expect.any(String) },
    });
    expect(await refusal(id, { infos: { a: 1 }, if_match: `W/${tag}` })).toMatchObject({ code: 'precondition_failed' });
    const patched = await fixture.patch(id, { infos: { a: 1 }, if_match: `"other", ${tag}` });
    expect(patched.infos).toEqual({ a: 1 });
    expect(await refusal(id, { infos: { a: 2 }, if_match: tag })).toMatchObject({ code: 'precondition_failed' });
    expect(await fixture.patch(id, { infos: { a: 3 }, if_match: '*' })).toMatchObject({ infos: { a: 3 } });
  });

  it('accepts exactly one of two concurrent patches with the same ETag', async () => {
    const { id } = await fixture.create();
    const tag = entityTag(await readText(id));
    const results = await Promise.allSettled(
      [1, 2].map((value) => fixture.patch(id, { infos: { value }, if_match: tag })),
    );
    expect(results.map((result) => result.status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('returns 404 before 412, 412 before 409, and 409 before 400', async () => {
    const { id } = await fixture.create();
    const all = { infos: { booking: 1 }, expected_updated_at: '2030-01-01T00:00:00Z', if_match: '"other"' };
    expect(await refusal(999_999, all)).toMatchObject({ code: 'not_found' });
    expect(await refusal(id, all)).toMatchObject({ code: 'precondition_failed' });
    expect(await refusal(id, { ...all, if_match: '*' })).toMatchObject({ code: 'conflict' });
    expect(await refusal(id, { infos: { booking: 1 } })).toMatchObject({ code: 'bad_request' });
  });
});

describe('updated_at of a conversation (D9a)', () => {
  it('is unchanged when a write changes nothing', async () => {
    const { id } = await fixture.create();
    const patched = await fixture.patch(id, { infos: { a: { b: [1] } } });
    expect((await fixture.patch(id, { infos: { a: { b: [1] } } })).updated_at).toBe(patched.updated_at);
    expect((await fixture.patch(id, {})).updated_at).toBe(patched.updated_at);
    expect((await fixture.patch(id, { infos: {}, config: {} })).updated_at).toBe(patched.updated_at);
    await fixture.writeRoom(id, { phase: 'lounge' });
    const written = await fixture.get(id);
    await fixture.writeRoom(id, { phase: 'lounge' });
    await fixture.writeRoom(id, { sessionId: 'ignored' });
    expect((await fixture.get(id)).updated_at).toBe(written.updated_at);
  });

  it('increases strictly with every write, even when the database clock is behind it', async () => {
    const { id } = await fixture.create();
    await fixture.env.sql(`update conversations.conversations set updated_at = '2999-01-01T00:00:00Z' where id = $1`, [
      id,
    ]);
    expect((await fixture.patch(id, { infos: { a: 1 } })).updated_at).toBe('2999-01-01T00:00:00.000001Z');
    await fixture.writeRoom(id, { phase: 'x' });
    expect((await fixture.get(id)).updated_at).toBe('2999-01-01T00:00:00.000002Z');
    expect((await fixture.recorded(id)).updated_at).toBe('2999-01-01T00:00:00.000003Z');
  });
});

/**
 * Returns whether PostgreSQL can store the value as jsonb unchanged. It cannot store U+0000, lone surrogates or
 * negative zero.
 */
function isStorable(value: unknown): boolean {
  const text = JSON.stringify(value);
  return (
    !text.includes('\\u0000') &&
    text.isWellFormed() &&
    !/\\ud[89a-f]/i.test(text) &&
    !/-0(?![.\d])/.test(text) &&
    !/e[+-]/.test(text)
  );
}
