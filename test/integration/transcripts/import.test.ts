import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newContext } from '#libs/infrastructure/nats';
import { contextFor, waitFor } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import {
  fullWindow,
  row,
  startTranscriptFixture,
  sha256,
  windowEnd,
  windowStart,
  type TranscriptFixture,
} from './fixture.ts';

let fixture: TranscriptFixture;
beforeAll(async () => {
  fixture = await startTranscriptFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const minute = 60_000;
const rows = [
  row(1_000, 2_000, 'Before.'),
  row(minute - 1, minute + 1_000, 'Across the start.'),
  row(minute, minute + 2_000, 'Welcome.'),
  row(minute + 3_000, minute + 4_000, 'Let us begin.'),
  row(2 * minute, 2 * minute + 1_000, 'Hello.', 'cpi-guest', 'Guest'),
  row(3 * minute, 3 * minute + 1_000, '  '),
  row('soon', 3 * minute, 'Malformed.'),
  row(3 * minute, undefined, 'Endless.'),
  row(5 * minute - 1_000, 5 * minute, 'Thank you.'),
  row(5 * minute - 1, 5 * minute + 1, 'Across the end.'),
  row(5 * minute, 6 * minute, 'After.'),
];
const artifact = { bytes: JSON.stringify(rows), contentType: 'application/json' };
const { listConversationNotes } = conversations.rpcs;
/** The result in the conversation's notes; a system note does not have an author. */
const findNote = async (id: number): Promise<string | undefined> => {
  const { items } = await fixture.bus.call(
    listConversationNotes,
    { conversation_id: id },
    contextFor(listConversationNotes),
  );
  return items.find((note) => note.note_type === 'system' && note.author_person === null)?.body;
};
const noteOf = (id: number): Promise<string> => waitFor(() => findNote(id), { what: 'a note' });
const none = { artifact: null, window: null, counts: null };

describe('job transcripts.transcript-import (rules/transcripts#import-evidence; D7, D25, D26)', () => {
  it('stores the rows that are completely inside the window, and evidence of the excluded rows', async () => {
    const { id, sessionId } = await fixture.meet({ artifact });
    expect(await fixture.becomes(id, 'imported')).toEqual({
      conversationId: id,
      status: 'imported',
      failureReason: null,
      contractImport: true,
      artifact: { sessionId, sha256: sha256(artifact.bytes), bytes: Buffer.byteLength(artifact.bytes) },
      window: { conversationStartedAt: '2030-01-15T10:01:00+00:00', captureEndedAt: '2030-01-15T10:05:00+00:00' },
      counts: {
        raw: 11,
        accepted: 4,
        installedSegments: 4,
        excludedByReason: {
          before_window_start: 1,
          after_window_end: 1,
          crosses_window_start: 1,
          crosses_window_end: 1,
          transcript_timestamp_ambiguous: 1,
          transcript_timestamp_malformed: 1,
          empty_sentence: 1,
        },
      },
    });
    expect(
      await fixture.env.sql(
        'select start_us, end_us, person_id, text from transcripts.transcript_rows where conversation_id = $1 order by start_us',
        [id],
      ),
    ).toEqual([
      { start_us: 0, end_us: 2_000_000, person_id: fixture.personId, text: 'Welcome.' },
      { start_us: 3_000_000, end_us: 4_000_000, person_id: fixture.personId, text: 'Let us begin.' },
      { start_us: 60_000_000, end_us: 61_000_000, person_id: -1, text: 'Hello.' },
      { start_us: 239_000_000, end_us: 240_000_000, person_id: fixture.personId, text: 'Thank you.' },
    ]);
  });

  it('sends the API token to the provider, and not to the signed download URL', async () => {
    const { id } = await fixture.meet({ artifact });
    await fixture.becomes(id, 'imported');
    expect(
      fixture.provider.requests.slice(-3).map(({ point: place, authorization }) => [place, authorization]),
    ).toEqual([
      ['sessions', `Bearer ${fixture.provider.apiToken}`],
      ['transcript', `Bearer ${fixture.provider.apiToken}`],
      ['download', undefined],
    ]);
  });

  it('imports the session with the longest overlap with the window', async () => {
    const { id, meetingId, sessionId, recorded } = await fixture.meet({ artifact, isRecorded: false });
    fixture.provider.addSession({
      id: 'session-early',
      meetingId,
      startedAt: '2030-01-15T09:00:00Z',
      endedAt: '2030-01-15T10:02:00Z',
    });
    fixture.provider.addSession({ id: 'session-late', meetingId, startedAt: '2030-01-15T10:04:59Z', endedAt: null });
    fixture.provider.addSession({
      id: 'session-other',
      meetingId: 'another',
      startedAt: '2030-01-15T09:00:00Z',
      endedAt: '2030-01-15T11:00:00Z',
    });
    await recorded();
    expect((await fixture.becomes(id, 'imported')).artifact?.sessionId).toBe(sessionId);
  });

  it('finds the session of a meeting on the last of many pages', async () => {
    const { id, meetingId, sessionId, recorded } = await fixture.meet({
      hasSession: false,
      artifact,
      isRecorded: false,
    });
    for (let index = 0; index < 230; index++) {
      const day = new Date(Date.UTC(2029, 0, 1) + index * 86_400_000).toISOString();
      fixture.provider.addSession({
        id: `${meetingId}-${index}`,
        meetingId,
        startedAt: day,
        endedAt: day.replace('T00', 'T01'),
      });
    }
    fixture.provider.addSession({
      id: sessionId,
      meetingId,
      startedAt: '2030-01-15T10:00:00Z',
      endedAt: '2030-01-15T10:10:00Z',
    });
    await recorded();
    expect((await fixture.becomes(id, 'imported')).artifact?.sessionId).toBe(sessionId);
  });

  it.each([
    ['epoch milliseconds', (ms: number) => Date.UTC(2030, 0, 15, 10) + ms],
    ['ISO times', (ms: number) => new Date(Date.UTC(2030, 0, 15, 10) + ms).toISOString()],
  ])('parses a transcript artifact: %s', async (_what, time) => {
    const { id } = await fixture.meet({
      artifact: { rows: [row(time(minute), time(minute + 1_000), 'In.'), row(time(0), time(1_000), 'Out.')] },
    });
    expect((await fixture.becomes(id, 'imported')).counts).toMatchObject({
      raw: 2,
      accepted: 1,
      excludedByReason: { before_window_start: 1 },
    });
  });

  it('imports no rows of an artifact that mixes relative and absolute times (D26a)', async () => {
    const { id } = await fixture.meet({
      artifact: {
        rows: [
          row(minute, minute + 1_000, 'Offset.'),
          row('2030-01-15T10:02:00Z', '2030-01-15T10:02:01Z', 'Absolute.'),
        ],
      },
    });
    expect((await fixture.becomes(id, 'transcript_window_empty')).counts).toMatchObject({
      raw: 2,
      accepted: 0,
      excludedByReason: { transcript_timestamp_ambiguous: 2 },
    });
    expect(await fixture.env.sql('select 1 from transcripts.transcript_rows where conversation_id = $1', [id])).toEqual(
      [],
    );
    expect(await fixture.env.sql('select 1 from transcripts.speakers where conversation_id = $1', [id])).toEqual([]);
  });

  it('classifies every row of a CSV without end times as ambiguous, and imports a CSV with end times', async () => {
    const csv = '"61000","peer","user","cpi-ada","Ada","Hello"\n"62000","peer","user","cpi-ada","Ada","There"\n';
    const { id } = await fixture.meet({ artifact: { bytes: csv, contentType: 'text/csv' } });
    expect(await fixture.becomes(id, 'transcript_window_empty')).toMatchObject({
      artifact: { sha256: sha256(csv) },
      counts: { raw: 2, excludedByReason: { transcript_timestamp_ambiguous: 2 } },
    });
    expect(await noteOf(id)).toMatch(/; 0 of 2 rows lie in the window; the provider sent CSV without end times/);
    const withEnds = 'start,end,cpi,name,text\n61000,62000,cpi-ada,Ada,Hello\n';
    const second = await fixture.meet({ artifact: { bytes: withEnds, contentType: 'text/csv' } });
    expect((await fixture.becomes(second.id, 'imported')).counts).toMatchObject({ raw: 1, accepted: 1 });
  });

  it('classifies a row that is not valid JSON as malformed, and imports the other rows (D86)', async () => {
    const spoken = Array.from({ length: 48 }, (_, index) =>
      JSON.stringify(row(minute + index, minute + index + 1, `Row ${index}.`)),
    );
    const bytes = `[${[...spoken, '{"startTime":NaN,"endTime":61000,"sentence":"No."}'].join(',')}]`;
    const { id } = await fixture.meet({ artifact: { bytes } });
    expect((await fixture.becomes(id, 'imported')).counts).toMatchObject({
      raw: 49,
      accepted: 48,
      installedSegments: 48,
      excludedByReason: { transcript_timestamp_malformed: 1 },
    });
  });

  it.each<[string, Buffer, RegExp]>([
    ['UTF-16', Buffer.from(`\ufeff${artifact.bytes}`, 'utf16le'), /UTF-16LE/],
    ['Latin-1', Buffer.from(artifact.bytes.replace('Welcome', 'Grüße'), 'latin1'), /ISO-8859-1 \(Latin-1\)/],
  ])('rejects a transcript artifact in %s, with a note that names the encoding (D86)', async (_what, bytes, name) => {
    const { id, sessionId } = await fixture.meet({ artifact: { bytes } });
    expect(await fixture.becomes(id, 'install_refused_or_incomplete')).toMatchObject({
      artifact: { sessionId, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length },
      counts: { raw: 0, accepted: 0, installedSegments: null },
    });
    await fixture.jobs.waitForState(id, 'dead');
    expect(await noteOf(id)).toMatch(name);
    fixture.provider.setArtifact(sessionId, artifact);
    await importAgain(id);
    await fixture.becomes(id, 'imported');
  });
});

describe('import statuses and their transitions (rules/transcripts#import-statuses; D7, D7a, D7b)', () => {
  it('returns the import status never_ran before the first run', async () => {
    const { id } = await fixture.meet({ isRecorded: false });
    expect(await fixture.evidence(id)).toEqual({
      conversationId: id,
      status: 'never_ran',
      failureReason: 'never_ran',
      contractImport: false,
      ...none,
    });
  });

  it.each([{}, { conversationStartedAt: windowStart }, { captureEndedAt: windowEnd }])(
    'records transcript_window_missing and downloads nothing for the window %j',
    async (window) => {
      const { id } = await fixture.meet({ artifact, window });
      const downloads = fixture.provider.requests.length;
      expect(await fixture.becomes(id, 'transcript_window_missing')).toEqual({
        conversationId: id,
        status: 'transcript_window_missing',
        failureReason: 'transcript_window_missing',
        contractImport: false,
        ...none,
      });
      expect(fixture.provider.requests.length).toBe(downloads);
    },
  );

  it('records a stored window whose end precedes its start as invalid_transcript_window (D7b)', async () => {
    const { id, recorded } = await fixture.meet({ artifact, window: {}, isRecorded: false });
    const room = JSON.stringify({ meetingId: 'm', conversationStartedAt: windowEnd, captureEndedAt: windowStart });
    await fixture.env.sql('update conversations.conversations set room = $2::jsonb where id = $1', [id, room]);
    await recorded();
    expect(await fixture.becomes(id, 'invalid_transcript_window')).toMatchObject({
      failureReason: 'invalid_transcript_window',
      contractImport: false,
      ...none,
    });
  });

  it('imports a transcript when the window becomes complete after the step was entered (D7a)', async () => {
    const { id, writeRoom } = await fixture.meet({ artifact, window: { conversationStartedAt: windowStart } });
    await fixture.becomes(id, 'transcript_window_missing');
    await writeRoom({ captureEndedAt: windowEnd });
    expect((await fixture.becomes(id, 'imported')).contractImport).toBe(true);
  });

  it('records transcript_window_empty with counts, and later imported when another run finds rows', async () => {
    const { id, sessionId } = await fixture.meet({ artifact: { rows: [] } });
    expect(await fixture.becomes(id, 'transcript_window_empty')).toMatchObject({
      failureReason: 'transcript_window_empty',
      contractImport: true,
      artifact: { bytes: 2, sha256: sha256('[]') },
      counts: { raw: 0, accepted: 0, installedSegments: null },
    });
    fixture.provider.setArtifact(sessionId, artifact);
    await importAgain(id);
    expect(await fixture.becomes(id, 'imported')).toMatchObject({
      failureReason: null,
      counts: { installedSegments: 4 },
    });
  });

  it('keeps evidence and rows of an import when a later run accepts no rows', async () => {
    const { id, sessionId } = await fixture.meet({ artifact });
    const before = await fixture.becomes(id, 'imported');
    const text = await fixture.markdown(id);
    fixture.provider.setArtifact(sessionId, { rows: [rows[0]] });
    await importAgain(id);
    expect(await fixture.evidence(id)).toEqual(before);
    expect(await fixture.markdown(id)).toBe(text);
  });

  it('stores the same rows, speakers and evidence when the same artifact is imported again', async () => {
    const { id } = await fixture.meet({ artifact });
    const before = [await fixture.becomes(id, 'imported'), await fixture.markdown(id), await storedRows(id)];
    await importAgain(id);
    expect([await fixture.evidence(id), await fixture.markdown(id), await storedRows(id)]).toEqual(before);
  });

  it('replaces the rows and preserves speaker numbers when another artifact is imported', async () => {
    const { id, sessionId } = await fixture.meet({ artifact });
    await fixture.becomes(id, 'imported');
    fixture.provider.setArtifact(sessionId, {
      rows: [
        row(minute, minute + 1_000, 'New voice.', 'cpi-new', 'New'),
        row(2 * minute, 2 * minute + 1_000, 'Old voice.', 'cpi-guest', 'Guest'),
      ],
    });
    await importAgain(id);
    expect((await storedRows(id)).map((item) => [item.person_id, item.text])).toEqual([
      [-2, 'New voice.'],
      [-1, 'Old voice.'],
    ]);
  });

  it('reports rows of an earlier system without a window as legacy_unbounded, and replaces them by an import', async () => {
    const { id, writeRoom } = await fixture.meet({ artifact, window: {}, isRecorded: false });
    const insert =
      'insert into transcripts.transcript_rows (conversation_id, start_us, position, end_us, person_id, text) values ($1, 0, 0, 1, -1, $2)';
    await fixture.env.sql(insert, [id, 'Old words.']);
    const legacy = {
      conversationId: id,
      status: 'legacy_unbounded',
      failureReason: 'legacy_unbounded',
      contractImport: false,
      ...none,
    };
    expect(await fixture.evidence(id)).toEqual(legacy);
    await importAgain(id);
    expect(await fixture.evidence(id)).toEqual(legacy);
    expect(await fixture.markdown(id)).toContain('Old words.');
    await writeRoom(fullWindow);
    await importAgain(id);
    await fixture.becomes(id, 'imported');
    expect(await fixture.markdown(id)).not.toContain('Old words.');
  });

  it('records install_refused_or_incomplete when the database does not store all accepted rows, and imports them later', async () => {
    await fixture.env.sql(`create function transcripts.drop_row() returns trigger language plpgsql as $$ begin
      if new.text = 'Lost.' then return null; end if; if new.text = 'Refused.' then raise exception 'no % here', new.text; end if; return new; end $$`);
    await fixture.env.sql(
      'create trigger drop_row before insert on transcripts.transcript_rows for each row execute function transcripts.drop_row()',
    );
    try {
      const incomplete = await fixture.meet({
        artifact: { rows: [row(minute, minute + 1, 'Kept.'), row(minute + 2, minute + 3, 'Lost.')] },
      });
      expect(await fixture.becomes(incomplete.id, 'install_refused_or_incomplete')).toMatchObject({
        failureReason: 'install_refused_or_incomplete',
        contractImport: true,
        counts: { raw: 2, accepted: 2, installedSegments: 1 },
      });
      expect(await storedRows(incomplete.id)).toEqual([]);
      const refused = await fixture.meet({ artifact: { rows: [row(minute, minute + 1, 'Refused.')] } });
      expect(await fixture.becomes(refused.id, 'install_refused_or_incomplete')).toMatchObject({
        counts: { accepted: 1, installedSegments: null },
      });
      expect(await fixture.jobs.waitForError(refused.id)).not.toContain('Refused.');
      await fixture.env.sql('drop trigger drop_row on transcripts.transcript_rows');
      await fixture.jobs.makeDue();
      await fixture.becomes(incomplete.id, 'imported');
      await fixture.becomes(refused.id, 'imported');
    } finally {
      await fixture.env.sql('drop function transcripts.drop_row() cascade');
    }
  });

  it('returns 404 for the import of an unknown conversation', async () => {
    await expect(fixture.evidence(999_999_999)).rejects.toMatchObject({ code: 'not_found', reason: undefined });
    await expect(fixture.markdown(999_999_999)).rejects.toMatchObject({ code: 'not_found', reason: undefined });
  });
});

describe('the pipeline step of an import (rules/steps#pipeline-jobs; D6)', () => {
  const stepOf = async (id: number): Promise<string> =>
    (await fixture.bus.call(conversations.rpcs.get, { conversation_id: id }, newContext())).step_slug;

  it('advances the conversation after an import if the step is configured so', async () => {
    const { id } = await fixture.meet({ artifact, journey: 'moving' });
    await fixture.becomes(id, 'imported');
    await waitFor(async () => (await stepOf(id)) !== 'import');
    expect(await stepOf(id)).toBe('review');
  });

  it('does not advance the conversation by default, and never when no rows were imported', async () => {
    const usual = await fixture.meet({ artifact });
    const empty = await fixture.meet({ artifact: { rows: [] }, journey: 'moving' });
    await fixture.becomes(usual.id, 'imported');
    await fixture.becomes(empty.id, 'transcript_window_empty');
    expect(await Promise.all([usual.id, empty.id].map(noteOf))).toEqual([
      'transcript_import finished: imported; 4 of 11 rows lie in the window',
      'transcript_import finished: transcript_window_empty; 0 of 0 rows lie in the window',
    ]);
    expect([await stepOf(usual.id), await stepOf(empty.id)]).toEqual(['import', 'import']);
  });
});

describe('cleanup of deleted conversations', () => {
  it('removes the transcript of a deleted conversation, and stores no later import of it', async () => {
    const { id, sessionId } = await fixture.meet({ artifact });
    await fixture.becomes(id, 'imported');
    const event = JSON.stringify({ id });
    await fixture.bus.publishDurable(conversations.events.deleted.subject, event, { msgId: `deleted-${id}` });
    const left = (): Promise<unknown[]> =>
      fixture.env.sql(
        `select 'rows' from transcripts.transcript_rows where conversation_id = $1 union all select 'speakers' from transcripts.speakers where conversation_id = $1
         union all select 'evidence' from transcripts.import_evidence where conversation_id = $1`,
        [id],
      );
    await waitFor(async () => (await left()).length === 0);
    await importAgain(id);
    expect(await left()).toEqual([]);
    fixture.provider.setArtifact(sessionId, { rows: [] });
    await importAgain(id);
    expect(await left()).toEqual([]);
  });
});

function storedRows(id: number): Promise<{ start_us: number; person_id: number; text: string }[]> {
  return fixture.env.sql(
    'select start_us, person_id, text from transcripts.transcript_rows where conversation_id = $1 order by start_us, position',
    [id],
  );
}

/** Reruns the import, as an operator does, and waits until it ends. */
async function importAgain(id: number): Promise<void> {
  const { job_id: jobId } = await fixture.bus.call(
    conversations.rpcs.importTranscript,
    { conversation_id: id },
    contextFor(conversations.rpcs.importTranscript),
  );
  await waitFor(
    async () =>
      (await fixture.env.sql(`select 1 from transcripts.jobs where id = $1 and state = 'succeeded'`, [jobId]))
        .length === 1,
    { what: 'the end of the import' },
  );
}
