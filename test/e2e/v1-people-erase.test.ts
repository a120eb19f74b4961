/** `people export` and `people erase` of the admin CLI across all services. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { signBooking } from '#libs/product/testing';
import { createObjectStore } from '#libs/infrastructure/object-store';
import { readZip } from './read-zip.ts';
import { eventually, startTestPlatform, type Applied, type TestPlatform } from './test-platform.ts';

const name = 'Zora Quillfeather';
const email = 'Zora.Quill@example.org';
const spoken = 'My secret is a purple heron.';

let platform: TestPlatform;
let ids: Applied['ids'];
let folder: string;
let token: string;
beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    { MEDIA_REPLACED_GRACE_SECONDS: '0' },
    { processes: ['media', 'agents'] },
  );
  folder = await mkdtemp(join(tmpdir(), 'people-'));
  ({ ids } = await platform.apply({
    classes: [{ slug: 'event', conversation_event: true, journeys: ['joining'] }],
    journeys: [
      { slug: 'open-circle', name: 'Open circle', is_conversation: true, steps: [{ slug: 'held', title: 'Held' }] },
      { slug: 'joining', name: 'Joining', steps: [{ slug: 'asked', title: 'Asked' }] },
    ],
    people: [
      {
        key: 'zora',
        name,
        description: 'Writes.',
        contact: { email, phone: '+49 30 5550111', telegram_user_id: '7007' },
        infos: { shoe: 'size 41' },
      },
      { key: 'ben', name: 'Ben' },
    ],
    holons: [{ slug: 'spring', name: 'Spring', class: 'event', journeys: ['open-circle'] }],
    accounts: [
      {
        email: 'zora.login@example.org',
        person: 'zora',
        password: 'secret-of-zora',
        groups: ['coherence_users'],
        teams: [{ holon: 'spring' }],
      },
      { email: 'ben@example.org', person: 'ben', password: 'secret-of-ben', superuser: true },
    ],
    memberships: [
      { person: 'zora', holon: 'spring', journey: 'joining', step: 'asked' },
      { person: 'ben', holon: 'spring', journey: 'joining', responsible: 'zora' },
    ],
  }));
  await platform.apply({
    conversations: [
      conversation('alone', ['zora']),
      conversation('shared', ['zora', 'ben']),
      conversation('others', ['ben']),
    ],
  });
  token = await platform.login('zora.login@example.org', 'secret-of-zora');
});
afterAll(async () => {
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
});

function conversation(key: string, participants: string[]): Record<string, unknown> {
  const rows = participants.map((person, index) => ({
    start_ms: index * 1000,
    end_ms: index * 1000 + 900,
    person,
    text: person === 'zora' ? spoken : 'Mine stays.',
  }));
  return {
    key,
    journey: 'open-circle',
    step: 'held',
    event: 'spring',
    start: '2026-05-01T10:00:00Z',
    participants,
    transcript: rows,
  };
}
const zora = (): number => ids['people']?.['zora'] ?? 0;
const conversationIds = async (): Promise<Record<string, number>> => {
  const rows = await platform.sql<{ key: string; conversation_id: number }>(
    'select key, conversation_id from conversations.import_keys',
  );
  return Object.fromEntries(rows.map((row) => [row.key, row.conversation_id]));
};
describe('people export and people erase (rules/cli#people-and-their-data)', () => {
  let known: Record<string, number>;

  it('creates data of the person in every service before the erasure', async () => {
    known = await conversationIds();
    for (const key of ['alone', 'shared']) {
      const room = {
        meetingId: `m-${key}`,
        claims: { host: { personId: zora(), claimedAt: '2026-05-01T10:00:00Z' } },
        participants: [
          { customParticipantId: `z-${key}`, personId: zora(), displayName: name },
          ...(key === 'shared'
            ? [{ customParticipantId: 'b', personId: ids['people']?.['ben'], displayName: 'Ben' }]
            : []),
        ],
      };
      const path = `/api/coherence/conversations/${known[key]}/enter-coherence`;
      expect((await platform.call('POST', path, { token, json: room })).status).toBe(200);
      const form = new FormData();
      form.append('audio', new Blob(['sound']), `${key}.mp3`);
      expect(
        (await platform.call('POST', `/api/coherence/conversations/${known[key]}/audio`, { token, body: form })).status,
      ).toBe(201);
    }
    const membership = await platform.sql<{ id: number }>('select id from directory.memberships where person_id = $1', [
      zora(),
    ]);
    const note = { note: 'Zora likes herons.' };
    const headers = { 'idempotency-key': 'herons' };
    expect(
      (await platform.call('POST', `/api/v1/memberships/${membership[0]?.id}/update`, { token, json: note, headers }))
        .status,
    ).toBe(200);
    expect(await platform.sql('select person_ids from directory.kept_answers')).toEqual([{ person_ids: [zora()] }]);
    const booking = {
      triggerEvent: 'BOOKING_CREATED',
      createdAt: '2026-04-01T10:00:00Z',
      payload: {
        uid: 'b-1',
        title: `Talk with ${name}`,
        startTime: '2031-01-15T10:00:00Z',
        endTime: '2031-01-15T11:00:00Z',
        attendees: [{ name, email }],
        metadata: { videoCallUrl: 'https://meet.example.org/r?journey=open-circle' },
      },
    };
    await platform.call('POST', `/api/coherence/hook/booking/${ids['people']?.['ben']}`, {
      token: null,
      json: booking,
      headers: signBooking(JSON.stringify(booking)),
    });
    await eventually(async () => {
      const [row] = await platform.sql<{ outcome: string }>('select outcome from conversations.webhook_receipts');
      expect(row?.outcome).toBe('applied');
    });
    const endpoint = { url: 'https://example.org/hook', description: 'Mine' };
    const keyed = { token, json: endpoint, headers: { 'idempotency-key': 'hook' } };
    expect((await platform.call('POST', '/api/v1/webhook-endpoints', keyed)).status).toBe(201);
    expect(await platform.sql(`select key from events.kept_answers where body like '%example.org/hook%'`)).toEqual([
      { key: 'hook' },
    ]);
    await platform.sql(`insert into agents.agents (slug, name) values ('guide', 'Guide')`);
    await platform.sql(
      `insert into agents.threads (agent_id, thread_key, channel) select id, 'telegram:chat:7007:agent:' || id, 'telegram' from agents.agents`,
    );
    await platform.sql(
      `insert into agents.messages (thread_id, turn, note_type, body, html, created_at)
       select id, 1, 'chat_visitor', 'Herons again.', '', now() from agents.threads`,
    );
  });

  it('exports all data of the person as a ZIP of JSON without hashes, which only its owner can read', async () => {
    const file = join(folder, 'zora.zip');
    const result = await platform.cli('people', 'export', email.toLowerCase(), '--out', file, '--json');
    expect([result.code, result.stderr]).toEqual([0, '']);
    const entries = await readZip(file);
    expect(entries['person.json']).toMatchObject([{ id: zora(), name, infos: { shoe: 'size 41' } }]);
    expect(entries['accounts.json']).toMatchObject([
      { email: 'zora.login@example.org', teams: [{ holon: { slug: 'spring' } }], sessions: [{}] },
    ]);
    expect(entries['memberships.json']).toMatchObject([
      { holon: { slug: 'spring' }, journey: 'joining', step: 'asked' },
    ]);
    expect(entries['responsible-memberships.json']).toMatchObject([{ person_id: ids['people']?.['ben'] }]);
    expect(entries['notes.json']).toMatchObject([{ body: 'Zora likes herons.', written_by_this_person: true }]);
    const conversations = entries['conversations.json'] as {
      id: number;
      room_participants: unknown[];
      notes: unknown[];
    }[];
    expect(conversations.map(({ id }) => id)).toEqual(expect.arrayContaining([known['alone'], known['shared']]));
    expect(conversations.find(({ id }) => id === known['shared'])).toMatchObject({
      is_participant: true,
      room_participants: [{ displayName: name }],
      room_claims: { host: { personId: zora() } },
      notes: [{ note_type: 'audio' }],
    });
    expect((entries['files.json'] as { name: string }[]).map((file) => file.name).toSorted()).toEqual([
      'alone.mp3',
      'shared.mp3',
    ]);
    const rows = entries['transcript.json'] as {
      conversation_id: number;
      text: string;
      start_ms: number;
      end_ms: number;
    }[];
    expect(rows).toHaveLength(2);
    for (const key of ['alone', 'shared'])
      expect(rows).toContainEqual({ conversation_id: known[key], start_ms: 0, end_ms: 900, text: spoken });
    expect(entries['agents.json']).toMatchObject([{ agent: 'guide', body: 'Herons again.' }]);
    expect(entries['webhook-endpoints.json']).toMatchObject([{ url: 'https://example.org/hook', description: 'Mine' }]);
    expect(JSON.stringify(entries)).not.toMatch(/argon2|password|secret_sha256|whsec_|Mine stays/);
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect((await platform.cli('people', 'export', 'zora', '--out', file)).stderr).toContain('exists already');
  });

  it('lists in a dry run what the erasure would remove, and changes nothing', async () => {
    const places = await platform.findInDatabase(name);
    const result = await platform.cli('people', 'erase', 'zora', '--dry-run', '--json');
    expect(JSON.parse(result.stdout)).toEqual({
      person_id: zora(),
      dry_run: true,
      counts: {
        transcripts: { transcripts: 2, transcript_rows: 2 },
        conversations: {
          conversations_deleted: 1,
          conversations_left: 2,
          notes_without_author: 1,
          notes_without_name: 1,
          webhook_receipts_emptied: 1,
        },
        media: { uploads_without_author: 2 },
        agents: { messages: 1 },
        events: { webhook_endpoints: 1 },
        directory: { notes: 1, authored_notes: 0, memberships: 1, accounts: 1, people: 1 },
      },
    });
    expect(await platform.findInDatabase(name)).toEqual(places);
    expect((await platform.call('GET', '/api/v1/auth/whoami', { token })).status).toBe(200);
  });

  it('rejects an erasure without a terminal and without --yes, and of unknown people', async () => {
    expect((await platform.cli('people', 'erase', 'zora')).stderr).toContain('--yes');
    const nobody = await platform.cli('people', 'erase', 'nobody@example.org', '--yes');
    expect([nobody.code, nobody.stderr]).toEqual([
      1,
      expect.stringContaining('No person has the id, key, email, phone number or name "nobody@example.org".'),
    ]);
  });

  it('resumes an interrupted erasure, and leaves no data of the person', async () => {
    for (const service of ['media', 'agents']) await platform.runtime.processes.get(service)?.stop();
    const broken = await platform.cli('people', 'erase', 'zora', '--yes');
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining(`people erase ${zora()}`)]);
    expect((await platform.call('GET', '/api/v1/auth/whoami', { token })).status).toBe(401);
    for (const service of ['media', 'agents']) await platform.runtime.restart(service);

    // The directory may have finished the erasure meanwhile; then only the id still finds it.
    expect(await platform.cli('people', 'erase', String(zora()), '--yes')).toMatchObject({ code: 0 });
    const [run] = await platform.sql<{ services: string }>(
      'select services::text from directory.person_erasures where person_id = $1 order by id',
      [zora()],
    );
    const counts = (JSON.parse(run?.services ?? '[]') as { service: string; counts: object }[]).map(
      ({ service, counts: ofService }) => [service, ofService] as const,
    );
    expect(Object.fromEntries(counts)).toMatchObject({
      // One upload or two: its conversation can be deleted before.
      media: { uploads_without_author: expect.any(Number) },
      agents: { messages: 1 },
      directory: { people: 1 },
    });
    for (const text of [
      name,
      email,
      'zora.login@example.org',
      spoken,
      'Zora likes herons',
      'Herons again',
      'size 41',
      '5550111',
    ])
      expect([text, await platform.findInDatabase(text)]).toEqual([text, []]);
    expect(await platform.sql('select key from events.kept_answers')).toEqual([]);
    expect(await platform.sql('select id from events.webhook_endpoints where deleted_at is null')).toEqual([]);
    const path = `/api/coherence/conversations/${known['shared']}`;
    const shared = await platform.call('GET', path);
    expect(shared.json.participants).toMatchObject([{ id: ids['people']?.['ben'] }]);
    expect((await platform.call('GET', `${path}/enter-coherence`)).json).toMatchObject({
      claims: {},
      participants: [{ displayName: 'Ben' }],
    });
    const transcript = (await platform.call('GET', `${path}/transcript`)).text;
    expect(transcript).toContain('Mine stays.');
    expect(transcript).toContain('[removed]');
    expect(transcript).toContain('Unresolved speaker 1');
    expect((await platform.call('GET', `${path}/audio`)).status).toBe(200);
    expect((await platform.call('GET', `/api/coherence/conversations/${known['others']}/transcript`)).text).toContain(
      'Mine stays.',
    );
  });

  it('deletes a conversation in which the erased person is the only participant, with its transcript and stored object', async () => {
    expect((await platform.call('GET', `/api/coherence/conversations/${known['alone']}`)).status).toBe(404);
    await eventually(async () => {
      expect(
        await platform.sql('select 1 from transcripts.transcript_rows where conversation_id = $1', [known['alone']]),
      ).toEqual([]);
      expect(await platform.sql('select 1 from media.blobs where conversation_id = $1', [known['alone']])).toEqual([]);
    });
    const { settings } = platform.runtime;
    const store = createObjectStore({
      endpoint: settings['S3_ENDPOINT'] ?? '',
      region: settings['S3_REGION'] ?? '',
      bucket: settings['S3_BUCKET'] ?? '',
      accessKeyId: settings['S3_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: settings['S3_SECRET_ACCESS_KEY'] ?? '',
      forcePathStyle: true,
    });
    expect(await Array.fromAsync(store.list(`audio/${known['alone']}/`))).toEqual([]);
    expect(await Array.fromAsync(store.list(`audio/${known['shared']}/`))).toHaveLength(1);
    store.close();
  });

  it('records the erasure without personal data, and shows it again by id', async () => {
    const erasures = () =>
      platform.sql<{ person_id: number; counts: string }>('select person_id, counts from directory.erasures');
    expect(await erasures()).toEqual([{ person_id: zora(), counts: expect.stringContaining('"people"') }]);
    const again = await platform.cli('people', 'erase', String(zora()), '--yes', '--json');
    expect([again.code, JSON.parse(again.stdout).counts.directory.people]).toEqual([0, 1]);
    expect(await erasures()).toHaveLength(1);
    expect((await platform.cli('people', 'export', String(zora()), '--out', join(folder, 'x.zip'))).stderr).toContain(
      'was erased',
    );
  });
});
