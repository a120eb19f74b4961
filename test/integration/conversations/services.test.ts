import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createJobs } from '#libs/infrastructure/jobs';
import { createDatabase } from '#libs/infrastructure/orm';
import { conversations } from '#services/conversations';
import { startConversationFixture, waitFor, type ConversationFixture } from './fixture.ts';

let fixture: ConversationFixture;
beforeAll(async () => {
  fixture = await startConversationFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const { rpcs } = conversations;
const audio = (name: string) => ({
  path: `audio/${name}`,
  name,
  content_type: 'audio/mpeg',
  size_bytes: 12,
  source: 'upload',
  created_at: '2030-01-01T00:00:00Z',
});
const attachment = (id: number, blob: number, name: string) => ({
  conversation_id: id,
  blob_id: blob,
  audio: audio(name),
  actor_account_id: 7,
  actor_person_id: fixture.personId('ben'),
});
/** Queues a job in this service as another service's outbox would. */
async function enqueue(
  job: (typeof conversations.jobs)[keyof typeof conversations.jobs],
  payload: never,
): Promise<void> {
  const { settings, logger } = fixture.env;
  const db = await createDatabase({
    url: settings['DATABASE_URL'] ?? '',
    schema: 'conversations',
    poolSize: 1,
    logger,
    applicationName: 'enqueue',
  });
  const jobs = createJobs({ contract: conversations, db, bus: fixture.bus, logger });
  await jobs.transaction((tx) => jobs.enqueue(tx, job, payload));
  await db.close();
}

describe('conversations.describe and conversations.exists', () => {
  it('returns title, journey, event, start, finish and participants of a conversation (D18a, D18b)', async () => {
    const { id, start } = await fixture.create();
    await fixture.patch(id, { infos: { publishing: { fields: { title: { value: 'Our talk', provenance: {} } } } } });
    expect(await fixture.call(rpcs.describe, { id })).toEqual({
      id,
      title: 'Our talk',
      journey_slug: 'open-circle',
      journey_name: 'Open circle',
      event: { id: fixture.ids['holons']?.['spring'], slug: 'spring', name: 'Spring' },
      start,
      finish: null,
      participants: [{ id: fixture.personId('ada'), name: 'Ada' }],
    });
    expect(await fixture.call(rpcs.exists, { id })).toEqual({ id });
  });

  it('returns 404 when the conversation does not exist', async () => {
    for (const id of [999_999, 0, -1]) {
      expect(await fixture.refusal(rpcs.describe, { id })).toMatchObject({ code: 'not_found' });
      expect(await fixture.refusal(rpcs.exists, { id })).toMatchObject({ code: 'not_found' });
      expect(await fixture.refusal(rpcs.getTranscriptSource, { conversation_id: id })).toMatchObject({
        code: 'not_found',
      });
      expect(await fixture.refusal(rpcs.listConversationNotes, { conversation_id: id })).toMatchObject({
        code: 'not_found',
      });
    }
  });
});

describe('conversations.transcript-source.get', () => {
  it('returns meeting, window, room participants and step of a conversation for its transcript import', async () => {
    const { id } = await fixture.create();
    await fixture.writeRoom(id, {
      meetingId: 'm-1',
      conversationStartedAt: '2030-01-01T10:00:00+02:00',
      participants: [{ customParticipantId: 'c-1', personId: 5, displayName: 'Ada' }, { customParticipantId: 'c-2' }],
    });
    expect(await fixture.call(rpcs.getTranscriptSource, { conversation_id: id })).toEqual({
      conversation_id: id,
      meeting_id: 'm-1',
      recording_id: null,
      window: { conversation_started_at: '2030-01-01T08:00:00Z', capture_ended_at: null },
      participants: [
        { customParticipantId: 'c-1', personId: 5, displayName: 'Ada' },
        { customParticipantId: 'c-2', personId: null, displayName: null },
      ],
      current_step_id: expect.any(Number),
    });
  });
});

describe('conversations.audio.attach (rules/media#audio-upload)', () => {
  it('sets infos.audio once per upload, and adds a note with user, file name and size', async () => {
    const { id, updated_at } = await fixture.create();
    const reply = await fixture.call(rpcs.attachAudio, attachment(id, 1, 'first.mp3'));
    await fixture.call(rpcs.attachAudio, attachment(id, 1, 'first.mp3'));
    expect(reply).toEqual({ audio: audio('first.mp3') });
    const read = await fixture.get(id);
    expect(read.infos).toEqual({ audio: audio('first.mp3') });
    expect(read.updated_at > updated_at).toBe(true);
    const notes = await fixture.notes(id);
    expect(notes).toMatchObject([{ note_type: 'audio', author_person: { name: 'Ben' } }]);
    expect(notes[0]?.body).toMatch(/first\.mp3.*12 bytes/);
  });

  it('keeps infos.audio of a newer upload when the job of an older upload runs later', async () => {
    const { id } = await fixture.create();
    await fixture.call(rpcs.attachAudio, attachment(id, 5, 'newer.mp3'));
    await enqueue(conversations.jobs.attachAudio, attachment(id, 4, 'older.mp3') as never);
    await waitFor(async () => (await fixture.notes(id)).length === 2);
    expect((await fixture.get(id)).infos).toEqual({ audio: audio('newer.mp3') });
  });

  it('returns 404 for audio of a conversation that does not exist, and its job is dead', async () => {
    expect(await fixture.refusal(rpcs.attachAudio, attachment(999_999, 1, 'x.mp3'))).toMatchObject({
      code: 'not_found',
    });
    await enqueue(conversations.jobs.attachAudio, attachment(999_999, 1, 'x.mp3') as never);
    await waitFor(
      async () => (await fixture.env.sql(`select from conversations.jobs where state = 'dead'`)).length === 1,
    );
  });
});

describe('conversations.advance-step (D6)', () => {
  it('advances to the next step with a note, only if the conversation is still at the given step', async () => {
    const { id } = await fixture.create();
    await fixture.recorded(id);
    const { current_step_id: stepId } = await fixture.call(rpcs.getTranscriptSource, { conversation_id: id });
    const payload = { conversation_id: id, step_id: stepId, cause: 'transcript_import' };
    await enqueue(conversations.jobs.advanceStep, payload as never);
    await waitFor(async () => (await fixture.get(id)).step_slug === 'done');
    expect((await fixture.notes(id))[0]).toMatchObject({ note_type: 'step_change', author_person: null });
    await fixture.call(rpcs.updateConversation, { conversation_id: id, step_slug: 'held' });
    await enqueue(conversations.jobs.advanceStep, payload as never);
    await waitFor(
      async () =>
        (await fixture.env.sql(`select from conversations.jobs where result = '{"advanced": false}'`)).length === 1,
    );
    expect((await fixture.get(id)).step_slug).toBe('held');
  });
});

describe('conversations commands of the admin CLI (rules/cli#admin-cli; D6, D7a, D29)', () => {
  it('moves a conversation to any step of its journey, even an archived one, adds a note and starts the step’s job', async () => {
    const { id } = await fixture.create();
    const move = (step: string) => fixture.call(rpcs.updateConversation, { conversation_id: id, step_slug: step });
    expect(await move('retired')).toMatchObject({ step_slug: 'retired' });
    expect((await fixture.notes(id))[0]).toMatchObject({
      note_type: 'step_change',
      body: expect.stringMatching(/^Moved: /),
    });
    await move('import');
    await waitFor(() => fixture.importsOf(id).length === 1);
    await move('import');
    expect(await fixture.notes(id)).toHaveLength(2);
  });

  it('starts the transcript import of a conversation at any step', async () => {
    const { id } = await fixture.create('plain');
    await fixture.call(rpcs.importTranscript, { conversation_id: id });
    await waitFor(() => fixture.importsOf(id).length === 1);
    expect(fixture.importsOf(id)).toEqual([{ conversation_id: id, step_id: null, cause: 'command' }]);
    expect(await fixture.refusal(rpcs.importTranscript, { conversation_id: 999_999 })).toMatchObject({
      code: 'not_found',
    });
  });
});
