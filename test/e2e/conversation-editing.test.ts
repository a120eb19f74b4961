/** Conversations that are created, changed, deleted and restored over HTTP, and their notes (rules/conversations#set-up; W8, W22, W17). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { prepareDiscovery } from './discovery-data.ts';
import type { Place } from './discovery-data.ts';
import { eventually, startTestPlatform } from './test-platform.ts';
import type { Answer, Call, TestPlatform } from './test-platform.ts';

const services = ['api-gateway', 'directory', 'conversations', 'events'];
const root = '/api/coherence/conversations';

let platform: TestPlatform;
let place: Place;
let members: TestPlatform;
let membersPlace: Place;
/** Coherence access without further rights. */
let editor: string;
beforeAll(async () => {
  [platform, members] = await Promise.all([
    startTestPlatform(import.meta.url, {}, { services }),
    startTestPlatform(`${import.meta.url}?members`, { CONVERSATION_ACCESS: 'members' }, { services }),
  ]);
  place = await prepareDiscovery(platform, 'set');
  membersPlace = await prepareDiscovery(members, 'own');
  editor = await platform.login('ada-set@example.org', 'secret-of-ada-set');
});
afterAll(() => Promise.all([platform.stop(), members.stop()]));

const start = '2031-05-01T10:00:00Z';
const finish = '2031-05-01T11:00:00Z';
const create = (json: unknown, call: Call = {}, on = platform): Promise<Answer> =>
  on.call('POST', root, { json, ...call });
const update = (id: number, json: unknown, token = editor, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call('POST', `${root}/${id}/update`, { json, token, headers });
const get = (id: number): Promise<Answer> => platform.call('GET', `${root}/${id}`);
const remove = (id: number, token = editor, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call('DELETE', `${root}/${id}`, { token, headers });
const restore = (id: number, token = editor, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call('POST', `${root}/${id}/restore`, { token, headers });
async function fresh(values: Record<string, unknown> = {}): Promise<any> {
  const answer = await create({ journey_slug: 'talk-b', start, ...values });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.json;
}
const createdEvents = ['conversation.created', 'conversation.step_entered'];
/** Waits until the feed has these events of the conversation, as `token` sees it. */
const expectEvents = (id: number, types: readonly string[], token = place.tokens.root): Promise<void> =>
  eventually(async () => {
    const { json } = await platform.call('GET', `/api/v1/events?subject_type=conversation&subject_id=${id}`, { token });
    expect(json.items.map(({ type }: { type: string }) => type)).toEqual(types);
  }, 15_000);
const denied = { status: 403, error: 'coherence_access_required' };
const errorOf = ({ status, json }: Answer) => ({ status, error: json?.error });

describe('POST /conversations (W8)', () => {
  it('creates a conversation with all values, at the first step, owned by the only event of the journey', async () => {
    const { ada, ben } = place.demo;
    const answer = await create({
      journey_slug: 'talk-b',
      start: '2031-05-01T12:00:00.5+02:00',
      finish,
      participant_ids: [ben, ada, ben],
      connected_slugs: ['beta', 'alpha', 'beta'],
      infos: { publishing: { fields: { title: 'Planned' } }, n: 12345678901234567890n.toString() },
      config: { mine: true },
    });
    expect([answer.status, answer.json]).toMatchObject([
      201,
      {
        journey_slug: 'talk-b',
        step_slug: 'held',
        start: '2031-05-01T10:00:00.500000Z',
        finish,
        participants: [{ id: ben }, { id: ada }],
        connected: [{ slug: 'beta' }, { slug: 'alpha' }],
        infos: { publishing: { fields: { title: 'Planned' } } },
        config: { mine: true },
      },
    ]);
    const { id } = answer.json;
    const read = await get(id);
    expect([read.json, read.headers.get('etag')]).toEqual([answer.json, answer.headers.get('etag')]);
    const [row] = await platform.sql('select event_id from conversations.conversations where id = $1', [id]);
    expect(row).toEqual({ event_id: place.holons['alpha'] });
  });

  it('emits the creation and the entered step, and starts the step', async () => {
    const { id } = await fresh({ journey_slug: 'talk-b' });
    await expectEvents(id, createdEvents);
    const entries = await platform.sql('select kind from conversations.timeline_entries where conversation_id = $1', [
      id,
    ]);
    expect(entries).toEqual([{ kind: 'step.entered' }]);
  });

  it('leaves times open and has no event when several events own the journey, or null is named', async () => {
    const several = (await create({ journey_slug: 'talk-a' })).json;
    const none = (await create({ journey_slug: 'talk-b', event_slug: null })).json;
    expect(several).toMatchObject({ start: null, finish: null, participants: [], connected: [] });
    const rows = await platform.sql('select event_id from conversations.conversations where id = any($1)', [
      [several.id, none.id],
    ]);
    expect(rows).toEqual([{ event_id: null }, { event_id: null }]);
  });

  it('accepts any event holon, and the named step', async () => {
    const made = await fresh({ event_slug: 'beta', journey_slug: `journey-${place.demo.tag}`, step_slug: 'second' });
    expect(made).toMatchObject({ step_slug: 'second' });
  });

  it.each([
    ['an unknown journey', { journey_slug: 'none' }],
    ['a journey without conversations', { journey_slug: 'chores' }],
    ['an unknown event', { event_slug: 'none' }],
    ['a holon that is not an event', { event_slug: 'guild' }],
    ['an event that the caller cannot see', { event_slug: 'closed' }],
    ['an unknown person', { participant_ids: [2_000_000_000] }],
    ['an impossible person', { participant_ids: [0] }],
    ['an unknown holon', { connected_slugs: ['none'] }],
    ['a holon that the caller cannot see', { connected_slugs: ['secret'] }],
    ['an unknown step', { step_slug: 'none' }],
  ])('returns 400 for %s', async (_name, values) => {
    const answer = await create({ journey_slug: 'talk-b', ...values });
    expect(errorOf(answer)).toEqual({ status: 400, error: 'validation_error' });
  });

  it('answers a hidden holon exactly like an unknown one', async () => {
    const [hidden, unknown] = [
      await create({ journey_slug: 'talk-b', connected_slugs: ['secret'] }),
      await create({ journey_slug: 'talk-b', connected_slugs: ['sekret'] }),
    ];
    expect(hidden.text.replace('secret', 'sekret')).toBe(unknown.text);
  });

  it.each([
    ['equal times', { finish: start }],
    ['an end before the start', { finish: '2031-05-01T09:59:59Z' }],
    ['an end that is the start in another offset', { finish: '2031-05-01T12:00:00+02:00' }],
  ])('returns 400 invalid_times for %s', async (_name, values) => {
    expect(errorOf(await create({ journey_slug: 'talk-b', start, ...values }))).toEqual({
      status: 400,
      error: 'invalid_times',
    });
  });

  it.each([
    ['infos', { infos: { booking: {} } }],
    ['config', { config: { publishing: {} } }],
  ])('returns 400 for a reserved key of %s', async (_name, values) => {
    expect(errorOf(await create({ journey_slug: 'talk-b', ...values }))).toEqual({
      status: 400,
      error: 'invalid_namespace_placement',
    });
  });

  it.each([
    [{ start: '2031-05-01T10:00:00' }],
    [{ start: 'soon' }],
    [{ participant_ids: ['1'] }],
    [{ connected_slugs: 'beta' }],
    [{ journey_slug: null }],
  ])('returns 422 for %j', async (values) => {
    expect((await create({ journey_slug: 'talk-b', ...values })).status).toBe(422);
  });

  it('returns 413 for too large infos and creates nothing', async () => {
    const before = await platform.sql('select count(*) from conversations.all_conversations');
    const answer = await create({ journey_slug: 'talk-b', infos: { text: 'x'.repeat(1_100_000) } });
    expect(errorOf(answer)).toEqual({ status: 413, error: 'conversation_data_too_large' });
    expect(await platform.sql('select count(*) from conversations.all_conversations')).toEqual(before);
  });

  it('creates one conversation for concurrent requests with one key, also of the shared token', async () => {
    const headers = { 'idempotency-key': 'create-once' };
    const json = { journey_slug: 'talk-b', start, participant_ids: [place.demo.ada] };
    const answers = await Promise.all(Array.from({ length: 5 }, () => create(json, { headers })));
    for (const answer of answers) expect([201, 409]).toContain(answer.status);
    const repeated = await create(json, { headers });
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    const ids = new Set([...answers, repeated].flatMap(({ status, json: body }) => (status === 201 ? [body.id] : [])));
    expect(ids.size).toBe(1);
    expect(errorOf(await create({ ...json, start: finish }, { headers }))).toEqual({
      status: 422,
      error: 'idempotency_key_reused',
    });
    const ofUser = await create(json, { headers, token: editor });
    expect([ofUser.status, ids.has(ofUser.json.id)]).toEqual([201, false]);
  });

  it('stores the participants with a response, so that their erasure removes it', async () => {
    await platform.apply({ people: [{ key: 'zoe', name: 'Zoe Vanishing', contact: {} }] });
    const [zoe] = await platform.sql<{ id: number }>(`select id from directory.people where name = 'Zoe Vanishing'`);
    const headers = { 'idempotency-key': 'with-zoe' };
    await create({ journey_slug: 'talk-b', participant_ids: [zoe?.id] }, { headers });
    const stored = () => platform.sql(`select person_ids from conversations.kept_answers where key = 'with-zoe'`);
    expect(await stored()).toEqual([{ person_ids: [zoe?.id] }]);
  });

  it('allows team authority over the event, and denies other events and accounts', async () => {
    const { member, stranger } = place.tokens;
    const json = { journey_slug: 'talk-b', start };
    const own = await create(json, { token: member });
    const hidden = await create({ ...json, event_slug: 'closed' }, { token: member });
    expect([own.status, hidden.status]).toEqual([201, 201]);
    expect(errorOf(await create({ ...json, event_slug: `event-set` }, { token: member }))).toEqual(denied);
    expect(errorOf(await create({ ...json, event_slug: null }, { token: member }))).toEqual(denied);
    expect(errorOf(await create(json, { token: stranger }))).toEqual(denied);
    expect(errorOf(await create({ journey_slug: 'none' }, { token: stranger }))).toEqual(denied);
    expect(errorOf(await create({ ...json, event_slug: 'closed' }, { token: stranger }))).toEqual({
      status: 400,
      error: 'validation_error',
    });
    expect((await create(json, { token: null })).status).toBe(401);
  });
});

describe('POST /conversations/{id}/update (W8)', () => {
  it('changes only the fields in the request and returns the conversation with its tag', async () => {
    const { ada, ben } = place.demo;
    const made = await fresh({ participant_ids: [ada], connected_slugs: ['beta'], finish });
    const answer = await update(made.id, { participant_ids: [ben, ada], connected_slugs: [] });
    expect([answer.status, answer.json]).toMatchObject([
      200,
      { start, finish, participants: [{ id: ben }, { id: ada }], connected: [], step_slug: 'held' },
    ]);
    const read = await get(made.id);
    expect([read.json, read.headers.get('etag')]).toEqual([answer.json, answer.headers.get('etag')]);
    expect((await update(made.id, { start: null, finish: null })).json).toMatchObject({ start: null, finish: null });
  });

  it('writes nothing when nothing differs', async () => {
    const made = await fresh({ participant_ids: [place.demo.ada] });
    const same = { start: '2031-05-01T12:00:00+02:00', participant_ids: [place.demo.ada], step_slug: 'held' };
    for (const json of [{}, same]) expect((await update(made.id, json)).json).toEqual(made);
    await expectEvents(made.id, createdEvents);
  });

  it('enters the step, with note and event, and records the fields in the audit log', async () => {
    const made = await fresh({ journey_slug: `journey-${place.demo.tag}` });
    expect((await update(made.id, { step_slug: 'third' })).json).toMatchObject({ step_slug: 'third' });
    await expectEvents(made.id, [...createdEvents, 'conversation.step_entered']);
    const { items } = (await platform.call('GET', `${root}/${made.id}/notes`, { token: editor })).json;
    expect(items).toMatchObject([
      { note_type: 'step_change', body: 'Moved: First → Third', author_person: { id: place.demo.ada } },
    ]);
    const [entry] = await platform.sql(
      `select action, changes::jsonb as changes from conversations.audit_log where target_id = $1 order by id desc limit 1`,
      [String(made.id)],
    );
    expect(entry).toEqual({ action: 'conversation.update', changes: '{"fields": ["step_slug"]}' });
  });

  it('emits an update, and hides the events when the new event is hidden from the reader', async () => {
    const made = await fresh();
    expect((await update(made.id, { event_slug: 'beta', start: finish })).status).toBe(200);
    await expectEvents(made.id, [...createdEvents, 'conversation.updated'], place.tokens.stranger);
    await update(made.id, { event_slug: 'closed' }, place.tokens.member);
    await expectEvents(made.id, [...createdEvents, 'conversation.updated', 'conversation.updated']);
    await expectEvents(made.id, [], place.tokens.stranger);
  });

  it('keeps links that the caller cannot see', async () => {
    const made = await fresh();
    await platform.sql('update conversations.all_conversations set connected_ids = $1 where id = $2', [
      [place.holons['secret']],
      made.id,
    ]);
    const answer = await update(made.id, { connected_slugs: ['secret', 'beta'] });
    expect(answer.json.connected.map(({ slug }: { slug: string }) => slug)).toEqual(['secret', 'beta']);
  });

  it('returns 400 for times that contradict stored ones, unknown references and unknown steps', async () => {
    const made = await fresh({ finish });
    expect(errorOf(await update(made.id, { start: finish }))).toEqual({ status: 400, error: 'invalid_times' });
    for (const json of [
      { participant_ids: [2_000_000_000] },
      { connected_slugs: ['secret'] },
      { event_slug: 'guild' },
      { step_slug: 'third' },
    ])
      expect(errorOf(await update(made.id, json))).toEqual({ status: 400, error: 'validation_error' });
    expect((await get(made.id)).json).toEqual(made);
  });

  it('returns 412 for another representation, before 400, and accepts the current one', async () => {
    const made = await fresh();
    const tag = (await get(made.id)).headers.get('etag') ?? '';
    const stale = await update(made.id, { step_slug: 'none' }, editor, { 'if-match': '"other"' });
    expect([stale.status, stale.json]).toMatchObject([
      412,
      { error: 'precondition_failed', updated_at: made.updated_at },
    ]);
    const answers = await Promise.all(
      ['2031-05-01T09:00:00Z', '2031-05-01T08:00:00Z'].map((time) =>
        update(made.id, { start: time }, editor, { 'if-match': tag }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([200, 412]);
  });

  it('replays the response of a key', async () => {
    const made = await fresh({ journey_slug: `journey-${place.demo.tag}` });
    const headers = { 'idempotency-key': 'move-once' };
    const first = await update(made.id, { step_slug: 'second' }, editor, headers);
    await update(made.id, { step_slug: 'third' });
    const again = await update(made.id, { step_slug: 'second' }, editor, headers);
    expect([again.status, again.json, again.headers.get('idempotent-replayed')]).toEqual([200, first.json, 'true']);
    expect((await get(made.id)).json.step_slug).toBe('third');
  });

  it('allows coherence access and team authority over both events, and denies others', async () => {
    const { member, stranger, root: superuser } = place.tokens;
    const made = await fresh();
    for (const token of [editor, member, superuser])
      expect((await update(made.id, { start: `2031-05-01T07:0${token.length % 10}:00Z` }, token)).status).toBe(200);
    expect(errorOf(await update(made.id, {}, stranger))).toEqual(denied);
    expect(errorOf(await update(made.id, { event_slug: `event-set` }, member))).toEqual(denied);
    expect(errorOf(await update(made.id, { event_slug: null }, member))).toEqual(denied);
    expect(errorOf(await update(made.id, {}, platform.sharedToken))).toEqual({
      status: 403,
      error: 'per_user_token_required',
    });
    const other = await fresh({ event_slug: 'event-set' });
    expect(errorOf(await update(other.id, {}, member))).toEqual(denied);
    expect((await update(2_000_000_000, {})).json).toEqual({ detail: 'Not Found' });
  });

  it('answers a conversation that the caller cannot read like an unknown one (D69)', async () => {
    const { id } = (await create({ journey_slug: 'talk-b' }, {}, members)).json;
    const token = membersPlace.tokens.stranger;
    for (const [method, path] of [
      ['POST', 'update'],
      ['POST', 'notes'],
      ['GET', 'notes'],
      ['POST', 'restore'],
      ['DELETE', ''],
    ] as const) {
      const call = async (target: number): Promise<[number, unknown]> => {
        const json = method === 'POST' ? { json: path === 'notes' ? { body: 'x' } : {} } : {};
        const answer = await members.call(method, `${root}/${target}${path === '' ? '' : `/${path}`}`, {
          token,
          ...json,
        });
        return [answer.status, answer.json];
      };
      expect([method, path, await call(id)]).toEqual([method, path, [404, { detail: 'Not Found' }]]);
      expect(await call(2_000_000_000)).toEqual([404, { detail: 'Not Found' }]);
    }
  });
});

describe('DELETE and restore of a conversation (W8, W21, D67)', () => {
  it('hides a deleted conversation, restores it with its data, and emits both', async () => {
    const made = await fresh({ participant_ids: [place.demo.ada], infos: { a: 1 } });
    const gone = await remove(made.id);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect([(await get(made.id)).status, (await remove(made.id)).status]).toEqual([404, 404]);
    const answer = await restore(made.id);
    expect([answer.status, answer.json]).toMatchObject([200, { id: made.id, infos: { a: 1 }, start }]);
    expect((await get(made.id)).json).toEqual(answer.json);
    await update(made.id, { start: finish });
    const changes = ['conversation.deleted', 'conversation.restored', 'conversation.updated', 'conversation.updated'];
    // After the restore the later events show again, also to readers who see nothing after a deletion (V10).
    for (const token of [place.tokens.root, place.tokens.stranger])
      await expectEvents(made.id, [...createdEvents, ...changes], token);
    const actions = await platform.sql(`select action from conversations.audit_log where target_id = $1 order by id`, [
      String(made.id),
    ]);
    expect(actions.slice(0, 2)).toEqual([{ action: 'conversation.delete' }, { action: 'conversation.restore' }]);
  });

  it('returns 409 not_deleted for a conversation that is not deleted, and once for concurrent restores', async () => {
    const made = await fresh();
    expect(errorOf(await restore(made.id))).toEqual({ status: 409, error: 'not_deleted' });
    await remove(made.id);
    const answers = await Promise.all(Array.from({ length: 4 }, () => restore(made.id)));
    expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([200, 409, 409, 409]);
    expect((await restore(2_000_000_000)).status).toBe(404);
  });

  it('replays a restore under its key, and deletes only the named representation', async () => {
    const made = await fresh();
    expect((await remove(made.id, editor, { 'if-match': '"other"' })).status).toBe(412);
    await remove(made.id, editor, { 'if-match': (await get(made.id)).headers.get('etag') ?? '' });
    const headers = { 'idempotency-key': 'restore-once' };
    const first = await restore(made.id, editor, headers);
    expect((await restore(made.id, editor, headers)).json).toEqual(first.json);
  });

  it('allows the same callers as the update', async () => {
    const { member, stranger } = place.tokens;
    const made = await fresh();
    expect(errorOf(await remove(made.id, stranger))).toEqual(denied);
    expect((await remove(made.id, member)).status).toBe(204);
    // The same response for an unknown id: nothing tells that a deleted conversation exists.
    expect([errorOf(await restore(made.id, stranger)), errorOf(await restore(2_000_000_000, stranger))]).toEqual([
      denied,
      denied,
    ]);
    expect((await restore(made.id, member)).status).toBe(200);
  });
});

describe('notes of a conversation (W8, W22)', () => {
  const notes = (id: number, query = '', token = editor): Promise<Answer> =>
    platform.call('GET', `${root}/${id}/notes${query}`, { token });
  const write = (id: number, json: unknown, token = editor, headers: Record<string, string> = {}): Promise<Answer> =>
    platform.call('POST', `${root}/${id}/notes`, { json, token, headers });

  it('adds notes of the caller and lists them newest first, in pages', async () => {
    const { id } = await fresh();
    const first = await write(id, { body: '  Called Ben.\n' });
    expect([first.status, first.json]).toMatchObject([
      201,
      { note: { body: 'Called Ben.', note_type: 'note', author_person: { id: place.demo.ada, name: 'Ada' } } },
    ]);
    const second = await write(id, { body: 'Room booked' });
    const all = await notes(id);
    expect([all.status, all.json]).toEqual([200, { items: [second.json.note, first.json.note], next: null }]);
    const page = (await notes(id, '?limit=1')).json;
    expect(page.items).toEqual([second.json.note]);
    expect((await notes(id, `?limit=1&cursor=${page.next}`)).json).toEqual({ items: [first.json.note], next: null });
  });

  it('adds one note per key', async () => {
    const { id } = await fresh();
    const headers = { 'idempotency-key': 'note-once' };
    await Promise.all(Array.from({ length: 4 }, () => write(id, { body: 'once' }, editor, headers)));
    expect((await write(id, { body: 'once' }, editor, headers)).status).toBe(201);
    expect((await notes(id)).json.items).toHaveLength(1);
  });

  it('rejects blank, missing and too long bodies, and bad cursors', async () => {
    const { id } = await fresh();
    expect(errorOf(await write(id, { body: ' \u200b\n' }))).toEqual({ status: 400, error: 'validation_error' });
    expect((await write(id, {})).status).toBe(422);
    expect((await write(id, { body: 'x'.repeat(100_001) })).status).toBe(422);
    expect(errorOf(await notes(id, '?cursor=x'))).toEqual({ status: 400, error: 'bad_cursor' });
    expect((await notes(id, '?limit=201')).status).toBe(422);
  });

  it('allows coherence access and team authority only, and returns 404 for a deleted conversation', async () => {
    const { member, stranger } = place.tokens;
    const { id } = await fresh();
    expect([(await write(id, { body: 'x' }, member)).status, (await notes(id, '', member)).status]).toEqual([201, 200]);
    expect(errorOf(await write(id, { body: 'x' }, stranger))).toEqual(denied);
    expect(errorOf(await notes(id, '', stranger))).toEqual(denied);
    await remove(id);
    expect([(await write(id, { body: 'x' })).status, (await notes(id)).status]).toEqual([404, 404]);
  });
});
