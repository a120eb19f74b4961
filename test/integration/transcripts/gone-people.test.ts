/**
 * People that are erased or merged while their speech is being imported (people erase; rules/people#merge-people; I3).
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { contextFor, waitFor, waitForLockWait } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { transcripts } from '#services/transcripts';
import { holdLocks } from '../../hold-locks.ts';
import { type Meeting, row, startTranscriptFixture, type TranscriptFixture } from './fixture.ts';
import { byCli } from '../directory/erase.ts';

const { erasePerson, mergePerson, installLegacy } = transcripts.rpcs;
const minute = 60_000;
const secret = 'My secret is a purple heron.';
const artifact = {
  rows: [
    row(minute, minute + 1_000, secret, 'cpi-eve', 'Eve Quillfeather'),
    row(minute + 2_000, minute + 3_000, 'Mine stays.', 'cpi-ada', 'Ada in the room'),
  ],
};

let fixture: TranscriptFixture;
beforeAll(async () => {
  fixture = await startTranscriptFixture(import.meta.url);
});
afterAll(() => fixture.stop());

/** Two people that are not erased or merged yet. */
let eve: number;
let zoe: number;
let round = 0;
beforeEach(async () => {
  round += 1;
  const people = ['eve', 'zoe'].map((key) => ({ key: `${key}-${round}`, name: key, contact: {} }));
  const { applyWorkspace } = directory.rpcs;
  const { ids } = await fixture.bus.call(
    applyWorkspace,
    { document: { people }, dry_run: false },
    contextFor(applyWorkspace),
  );
  [eve, zoe] = ['eve', 'zoe'].map((key) => ids['people']?.[`${key}-${round}`] ?? 0) as [number, number];
});

const participants = () => [
  { customParticipantId: 'cpi-eve', personId: eve },
  { customParticipantId: 'cpi-ada', personId: fixture.personId },
];
const meet = (): Promise<Meeting> => fixture.meet({ artifact, isRecorded: false, participants: participants() });

const erase = (personId: number) =>
  fixture.bus.call(erasePerson, { person_id: personId, after: 0, dry_run: false, by: byCli }, contextFor(erasePerson));
const merge = (mergedId: number, intoId: number) =>
  fixture.bus.call(mergePerson, { gone_id: mergedId, into_id: intoId, after: 0 }, contextFor(mergePerson));

/** Runs `happens` after an import has resolved the participants and before the import stores rows. */
async function whileImporting({ id, recorded }: Meeting, happens: () => Promise<unknown>): Promise<void> {
  const letGo = await holdLocks(
    fixture.env,
    `select pg_advisory_xact_lock(hashtextextended('transcripts.conversation', $1::bigint))`,
    [id],
  );
  await recorded();
  await waitForLockWait(fixture.env.sql, 'transcripts');
  await happens();
  expect(await letGo()).toBe('stopped');
  await fixture.becomes(id, 'imported');
}

const speakersOf = (id: number) =>
  fixture.env.sql(
    'select person_id, number, display_name from transcripts.speakers where conversation_id = $1 order by speaker_key',
    [id],
  );
const rowsOf = (id: number) =>
  fixture.env.sql(
    'select person_id, text from transcripts.transcript_rows where conversation_id = $1 order by start_us',
    [id],
  );
const mine = () => ({ person_id: fixture.personId, text: 'Mine stays.' });

describe('erasure of a person in transcripts', () => {
  it('erases the person in rows that a running import stores after the erasure', async () => {
    const meeting = await meet();
    await whileImporting(meeting, async () => {
      expect((await erase(eve)).counts).toEqual({ transcripts: 0, transcript_rows: 0 });
    });
    expect(await rowsOf(meeting.id)).toEqual([{ person_id: -1, text: '[removed]' }, mine()]);
    const [, nameless] = await speakersOf(meeting.id);
    expect(nameless).toEqual({ person_id: null, number: 1, display_name: null });
    expect((await fixture.evidence(meeting.id)).counts).toMatchObject({ accepted: 2, installedSegments: 2 });
  });

  it('does not restore utterances and name of an erased person in a repeated import', async () => {
    const meeting = await meet();
    await meeting.recorded();
    await fixture.becomes(meeting.id, 'imported');
    expect(await rowsOf(meeting.id)).toEqual([{ person_id: eve, text: secret }, mine()]);
    await erase(eve);
    await meeting.writeRoom({ participants: participants().slice(1) });
    const { importTranscript } = conversations.rpcs;
    await fixture.bus.call(importTranscript, { conversation_id: meeting.id }, contextFor(importTranscript));
    await waitFor(
      async () => (await fixture.jobs.list(meeting.id)).filter(({ state }) => state === 'succeeded').length === 2,
    );
    expect(await rowsOf(meeting.id)).toEqual([{ person_id: -1, text: '[removed]' }, mine()]);
    expect(await fixture.markdown(meeting.id)).not.toMatch(/Quillfeather|heron/);
  });

  it('erases a person in rows of a bulk import that looked up the person before the erasure', async () => {
    const { id } = await fixture.meet({ isRecorded: false, window: {} });
    await erase(eve);
    const rows = [
      { start_ms: 0, end_ms: 1, person_id: eve, speaker: null, text: secret },
      { start_ms: 2, end_ms: 3, person_id: fixture.personId, speaker: null, text: 'Mine stays.' },
    ];
    await fixture.bus.call(
      installLegacy,
      { items: [{ conversation_id: id, rows }], dry_run: false },
      contextFor(installLegacy),
    );
    expect(await rowsOf(id)).toEqual([{ person_id: -1, text: '[removed]' }, mine()]);
  });

  it('erases the utterances of a person merged into the erased person, even if the merge is received later', async () => {
    const meeting = await meet();
    await meeting.recorded();
    await fixture.becomes(meeting.id, 'imported');
    await erase(zoe);
    await merge(eve, zoe);
    expect(await rowsOf(meeting.id)).toEqual([{ person_id: -1, text: '[removed]' }, mine()]);
  });

  it('does not erase the person in later imports after a dry run', async () => {
    const meeting = await meet();
    await whileImporting(meeting, () =>
      fixture.bus.call(erasePerson, { person_id: eve, after: 0, dry_run: true, by: byCli }, contextFor(erasePerson)),
    );
    expect(await rowsOf(meeting.id)).toEqual([{ person_id: eve, text: secret }, mine()]);
  });
});

describe('merge of a person in transcripts (I3)', () => {
  it('assigns rows to the surviving person that a running import stores after the merge', async () => {
    const meeting = await meet();
    await whileImporting(meeting, () => merge(eve, zoe));
    expect(await rowsOf(meeting.id)).toEqual([{ person_id: zoe, text: secret }, mine()]);
  });

  it('assigns rows to the last surviving person of successive merges', async () => {
    const meeting = await meet();
    await whileImporting(meeting, async () => {
      await merge(eve, zoe);
      await merge(zoe, fixture.personId);
    });
    expect(await rowsOf(meeting.id)).toEqual([{ person_id: fixture.personId, text: secret }, mine()]);
  });
});
