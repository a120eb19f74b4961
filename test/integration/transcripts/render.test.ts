import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contextFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { transcripts } from '#services/transcripts';
import { row, startTranscriptFixture, type TranscriptFixture } from './fixture.ts';

let fixture: TranscriptFixture;
beforeAll(async () => {
  fixture = await startTranscriptFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const minute = 60_000;

describe('transcripts.transcripts.render (rules/transcripts#transcript-file; D24, D24a)', () => {
  it('writes metadata and joined utterances, with current names, display names or speaker numbers', async () => {
    const { id } = await fixture.meet({
      artifact: {
        rows: [
          row(2 * minute, 2 * minute + 1_000, 'Nobody knows me.', 'cpi-unnamed', ''),
          row(minute, minute + 1_000, 'One.', 'cpi-ada', 'Old name'),
          row(minute + 1_000, minute + 2_000, 'Two.', 'cpi-ada', 'Old name'),
          row(3 * minute + 5_999, 3 * minute + 7_000, 'A guest.', 'cpi-guest', 'Gwen'),
        ],
      },
    });
    await fixture.becomes(id, 'imported');
    const [conversation] = await fixture.env.sql<{ start: string }>(
      'select conversations.iso_utc(start_at) as start from conversations.conversations where id = $1',
      [id],
    );
    const [finished] = await fixture.env.sql<{ finish: string }>(
      'select conversations.iso_utc(finish_at) as finish from conversations.conversations where id = $1',
      [id],
    );
    expect(await fixture.markdown(id)).toBe(
      `# Conversation of ${conversation?.start.slice(0, 10)}\n\n- Conversation: ${id}\n- Journey: Journey circle\n- Event: Spring\n- Start: ${conversation?.start}\n` +
        `- Finish: ${finished?.finish}\n- Participants: Ada\n\n## Transcript\n\n**Ada** (00:00)\nOne. Two.\n\n**Unresolved speaker 1** (01:00)\nNobody knows me.\n\n` +
        '**Gwen** (02:05)\nA guest.\n',
    );
  });

  it('writes the current name of a speaker known to the directory', async () => {
    const { id } = await fixture.meet({ artifact: { rows: [row(minute, minute + 1_000, 'One.')] } });
    await fixture.becomes(id, 'imported');
    await rename('Ada Lovelace');
    expect(await fixture.markdown(id)).toContain('**Ada Lovelace** (00:00)');
    await rename('Ada');
    expect(await fixture.markdown(id)).toContain('**Ada** (00:00)');
  });

  it('writes the display name or a number for a speaker unknown to the directory', async () => {
    const participants = [
      { customParticipantId: 'cpi-1', personId: 2_000_000_001 },
      { customParticipantId: 'cpi-2', personId: 2_000_000_002 },
    ];
    const rows = [row(minute, minute + 1, 'a', 'cpi-1', 'Left us'), row(minute + 2, minute + 3, 'b', 'cpi-2', '')];
    const { id } = await fixture.meet({ artifact: { rows }, participants });
    await fixture.becomes(id, 'imported');
    const text = await fixture.markdown(id);
    expect(text).toContain('**Left us** (00:00)\na\n');
    expect(text).toContain('**Person 2000000002** (00:00)\nb\n');
    expect(await fixture.markdown(id, 2_000_000_002)).toContain('\nb\n');
  });

  it('joins two room participants of one person as one speaker', async () => {
    const participants = [
      { customParticipantId: 'laptop', personId: fixture.personId },
      { customParticipantId: 'phone', personId: fixture.personId },
    ];
    const { id } = await fixture.meet({
      artifact: { rows: [row(minute, minute + 1, 'One.', 'laptop'), row(minute + 2, minute + 3, 'Two.', 'phone')] },
      participants,
    });
    await fixture.becomes(id, 'imported');
    expect(await fixture.markdown(id)).toContain('**Ada** (00:00)\nOne. Two.\n');
  });

  it('filters the transcript by speaker after joining utterances, with times relative to the whole conversation', async () => {
    const rows = [
      row(minute, minute + 1_000, 'One.'),
      row(2 * minute, 2 * minute + 1_000, 'Guest.', 'cpi-guest', 'Gwen'),
      row(3 * minute, 3 * minute + 1_000, 'Two.'),
      row(4 * minute, 4 * minute + 1_000, 'Three.'),
    ];
    const { id } = await fixture.meet({ artifact: { rows } });
    await fixture.becomes(id, 'imported');
    expect((await fixture.markdown(id, fixture.personId)).split('## Transcript\n')[1]).toBe(
      '\n**Ada** (00:00)\nOne.\n\n**Ada** (02:00)\nTwo. Three.\n',
    );
    expect((await fixture.markdown(id, -1)).split('## Transcript\n')[1]).toBe('\n**Gwen** (01:00)\nGuest.\n');
  });

  it('returns 404 for a speaker without utterances, even if the person is a participant', async () => {
    const { id } = await fixture.meet({ artifact: { rows: [row(minute, minute + 1_000, 'Guest.', 'cpi-guest')] } });
    await fixture.becomes(id, 'imported');
    for (const personId of [fixture.personId, -2, 0, 2_147_483_648, -2_147_483_649, Number.MAX_SAFE_INTEGER]) {
      await expect(fixture.markdown(id, personId)).rejects.toMatchObject({ code: 'not_found', reason: undefined });
    }
  });

  it('writes only the metadata of a conversation without rows, and returns 404 with a speaker filter', async () => {
    const { id } = await fixture.meet({ isRecorded: false });
    expect(await fixture.markdown(id)).toMatch(/^# Conversation of .*\n\n- Conversation: \d+\n[^*]*## Transcript\n$/);
    await expect(fixture.markdown(id, fixture.personId)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('counts times of rows imported without a window from the start of the conversation, even after a later run (T5)', async () => {
    const { id } = await fixture.meet({ artifact: { rows: [row(0, 1_000, 'Outside.')] }, isRecorded: false });
    await fixture.bus.call(
      transcripts.rpcs.installLegacy,
      {
        items: [
          {
            conversation_id: id,
            rows: [{ start_ms: 1_500, end_ms: 2_000, person_id: null, speaker: 'Gwen', text: 'Old.' }],
          },
        ],
        dry_run: false,
      },
      contextFor(transcripts.rpcs.installLegacy),
    );
    const [conversation] = await fixture.env.sql<{ start: string }>(
      `select conversations.iso_utc(start_at + interval '1.5 seconds') as start from conversations.conversations where id = $1`,
      [id],
    );
    const read = async (): Promise<unknown> =>
      JSON.parse(await fixture.transcript({ conversation_id: id, format: 'json' }));
    const speaker = { key: '-1', person_id: null, name: 'Gwen' };
    const old = { index: 0, start_ms: 1_500, end_ms: 2_000, started_at: conversation?.start, speaker, text: 'Old.' };
    expect(await read()).toEqual({ conversation_id: id, window: null, segments: [old] });
    await fixture.env.sql('update conversations.conversations set start_at = null, finish_at = null where id = $1', [
      id,
    ]);
    expect(await read()).toMatchObject({ window: null, segments: [{ ...old, started_at: null }] });
  });

  it('returns a range of rows with their positions in the whole transcript', async () => {
    const { id } = await fixture.meet({ isRecorded: false });
    await fixture.env.sql(
      `insert into transcripts.transcript_rows (conversation_id, start_us, position, end_us, person_id, text)
       select $1, n * 1000000, n, n * 1000000 + 1, -1, 'Row ' || n from generate_series(0, 9) n`,
      [id],
    );
    const part = await fixture.transcript({ conversation_id: id, format: 'json', limit: 3, offset: 4 });
    const { segments } = JSON.parse(part) as { segments: { index: number; text: string }[] };
    expect(segments.map(({ index, text }) => [index, text])).toEqual([4, 5, 6].map((index) => [index, `Row ${index}`]));
  });

  /** Renders a transcript in which three rows each start at the same time, so that pages end between such rows. */
  async function readLarge() {
    const { id } = await fixture.meet({ isRecorded: false });
    await fixture.env.sql(
      `insert into transcripts.transcript_rows (conversation_id, start_us, position, end_us, person_id, text)
       select $1, (n - n % 3)::bigint * 1000000, n, n::bigint * 1000000 + 1, -1 - n % 7, 'Sentence ' || n || ' of a long evening, longer than most.' from generate_series(0, 39999) n`,
      [id],
    );
    const reply = await fixture.bus.callRaw(
      transcripts.rpcs.render,
      { conversation_id: id },
      contextFor(transcripts.rpcs.render),
    );
    if (reply.kind !== 'stream') throw new Error('one message');
    return { id, reply };
  }

  it('aborts a large transcript file when its rows have changed since its digest was sent', async () => {
    const { id, reply } = await readLarge();
    await fixture.env.sql(
      `update transcripts.transcript_rows set text = 'Another.' where conversation_id = $1 and position = 39999`,
      [id],
    );
    const readAll = async () => {
      for await (const chunk of reply.chunks) expect(chunk.length).toBeGreaterThan(0);
    };
    await expect(readAll()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('streams a large transcript file, and sends its digest before the first byte', async () => {
    const { reply } = await readLarge();
    const hash = createHash('sha256');
    let text = '';
    for await (const chunk of reply.chunks) {
      hash.update(chunk);
      text += Buffer.from(chunk).toString('utf8');
    }
    expect(text.match(/Sentence/g)).toHaveLength(40_000);
    expect(
      text.endsWith('**Unresolved speaker 2** (666:39)\nSentence 39999 of a long evening, longer than most.\n'),
    ).toBe(true);
    expect(reply.digest).toBe(hash.digest('base64url'));
  });
});

async function rename(name: string): Promise<void> {
  const document = { people: [{ key: 'ada', name, contact: { email: 'ada@example.org' } }] };
  await fixture.bus.call(
    directory.rpcs.applyWorkspace,
    { document, dry_run: false },
    contextFor(directory.rpcs.applyWorkspace),
  );
}
