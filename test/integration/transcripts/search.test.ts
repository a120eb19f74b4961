import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor, ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { newContext } from '#libs/infrastructure/nats';
import { contextFor, fastJobTuning, startService, superuser, waitFor } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { transcripts } from '#services/transcripts';
import { fullWindow, row, startTranscriptFixture, type TranscriptFixture } from './fixture.ts';
import { byCli } from '../directory/erase.ts';

type Reply = ReplyOf<typeof transcripts.rpcs.search>;
const minute = 60_000;

let fixture: TranscriptFixture;
beforeAll(async () => {
  fixture = await startTranscriptFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const search = (request: RequestOf<typeof transcripts.rpcs.search>, actor: Actor = superuser): Promise<Reply> =>
  fixture.bus.call(transcripts.rpcs.search, request, { ...newContext(), actor });
const said = ({ items }: Reply): string[] => items.map(({ segment }) => segment.text);

/** Waits until pending rows are indexed. */
const indexed = (): Promise<boolean> =>
  waitFor(
    async () => {
      const left = await fixture.env.sql(
        `select 1 from transcripts.jobs where type = 'transcripts.index-transcripts' and state in ('queued', 'running')`,
      );
      return left.length === 0;
    },
    { what: 'the index' },
  );

/** Waits until the expectation passes. */
const becomes = (check: () => Promise<void>): Promise<boolean> =>
  waitFor(async () => {
    await check();
    return true;
  });

/**
 * Creates a conversation with bulk-imported rows, one per minute. A text may start with the name of the speaker and a
 * colon.
 */
async function talk(...lines: string[]): Promise<number> {
  const { id } = await fixture.meet({ isRecorded: false, window: {} });
  const rows = lines.map((line, index) => {
    const [, speaker = 'Gwen', text = line] = /^(\w+): (.*)$/s.exec(line) ?? [];
    const isAda = speaker === 'Ada';
    return {
      start_ms: index * minute,
      end_ms: index * minute + 1_500,
      person_id: isAda ? fixture.personId : null,
      speaker,
      text,
    };
  });
  const { installLegacy } = transcripts.rpcs;
  await fixture.bus.call(
    installLegacy,
    { items: [{ conversation_id: id, rows }], dry_run: false },
    contextFor(installLegacy),
  );
  await indexed();
  return id;
}

describe('size of search responses (D91)', () => {
  it('shortens long texts in search results, and returns fewer matches than requested when a page reaches 1 MiB', async () => {
    // Each control character takes six bytes in JSON, so a few texts fill a page.
    const filler = '\u0001\u0002\u0003 '.repeat(500);
    const lines = Array.from({ length: 110 }, (_, index) => `Gwen: ${filler}oversized ${index}${filler}`);
    await talk(...lines);
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: Reply = await search({ q: 'oversized', limit: 100, ...(cursor === undefined ? {} : { cursor }) });
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(1_048_576);
      for (const { segment, highlights, before, after } of page.items) {
        expect(segment.text.length).toBeLessThanOrEqual(2_000);
        expect(highlights.map(([from, to]) => segment.text.slice(from, to))).toEqual(['oversized']);
        expect(Math.max(before?.length ?? 0, after?.length ?? 0)).toBeLessThanOrEqual(300);
        seen.push(/oversized (\d+)/.exec(segment.text)?.[1] ?? '');
      }
      sizes.push(page.items.length);
      cursor = page.next;
    }
    expect(sizes[0]).toBeGreaterThan(50);
    expect(sizes[0]).toBeLessThan(100);
    expect(seen.toSorted((a, b) => Number(a) - Number(b))).toEqual(lines.map((_, index) => String(index)));
  });
});

describe('transcripts.transcripts.search (rules/transcripts#search; T2, T6)', () => {
  it('returns an utterance with its position, speaker, neighbours and highlights', async () => {
    const id = await talk('Before it.', 'Ada: Größe, the budget GRÖSSE.', 'After it.');
    const { items, next, total_estimate: total } = await search({ q: 'grosse budget' });
    const [conversation] = await fixture.env.sql<{ start: string }>(
      'select conversations.iso_utc(start_at) as start from conversations.conversations where id = $1',
      [id],
    );
    expect({ items, next, total }).toEqual({
      items: [
        {
          conversation: {
            id,
            title: `Conversation of ${conversation?.start.slice(0, 10)}`,
            start: conversation?.start,
          },
          segment: {
            index: 1,
            start_ms: minute,
            end_ms: minute + 1_500,
            speaker: { key: String(fixture.personId), person_id: fixture.personId, name: 'Ada' },
            text: 'Größe, the budget GRÖSSE.',
          },
          highlights: [
            [0, 5],
            [11, 17],
            [18, 24],
          ],
          before: 'Before it.',
          after: 'After it.',
        },
      ],
      next: null,
      total: 1,
    });
    const edge = await search({ q: '"before it"' });
    expect(edge.items).toMatchObject([
      {
        before: null,
        after: 'Größe, the budget GRÖSSE.',
        highlights: [
          [0, 6],
          [7, 9],
        ],
      },
    ]);
  });

  it('searches for words, phrases, exclusions and prefixes; treats AND and OR as words, and does not stem words', async () => {
    await talk(
      'quokka walks home',
      'quokka home walks slowly',
      'quokkas or wombats',
      'the quokka and the wombat',
      'walks',
    );
    const answers = async (q: string): Promise<string[]> => said(await search({ q })).toSorted();
    expect(await answers('quokka walks')).toEqual(['quokka home walks slowly', 'quokka walks home']);
    expect(await answers('"walks home" quokka')).toEqual(['quokka walks home']);
    expect(await answers('quokka -walks')).toEqual(['the quokka and the wombat']);
    expect(await answers('quokka -"home walks" -wombat')).toEqual(['quokka walks home']);
    expect(await answers('quokk*')).toEqual([
      'quokka home walks slowly',
      'quokka walks home',
      'quokkas or wombats',
      'the quokka and the wombat',
    ]);
    expect(await answers('quokka OR wombats')).toEqual([]);
    expect(await answers('quokkas OR wombats')).toEqual(['quokkas or wombats']);
    expect(await answers('quokka AND wombat')).toEqual(['the quokka and the wombat']);
    for (const q of ['-quokka', '"" - *', '& | !', ' '])
      expect(await search({ q })).toEqual({ items: [], next: null, total_estimate: 0 });
  });

  it('returns the best search matches first, and equal ones by date, newest first', async () => {
    const older = await talk(
      'zebra crossing',
      'a zebra said something long about many other things and animals of the plain',
    );
    const newer = await talk('zebra crossing');
    // Each new conversation starts earlier than the previous one, so the first one created is the newest.
    const { items } = await search({ q: 'zebra' });
    expect(items.map(({ conversation, segment }) => [conversation.id, segment.index])).toEqual([
      [older, 0],
      [newer, 0],
      [older, 1],
    ]);
    const close = await talk('alpaca and then in the end a llama', 'llama alpaca');
    expect((await search({ q: 'alpaca llama' })).items.map(({ segment }) => segment.index)).toEqual([1, 0]);
    expect(close).toBeGreaterThan(0);
  });

  it('returns every search match once across pages, even beyond the number of jointly ranked matches', async () => {
    const count = 1_203;
    await talk(
      ...Array.from({ length: count }, (_, index) =>
        index % 100 === 0 ? `marmot ${index}` : `marmot ${index} in the hills`,
      ),
    );
    const seen: string[] = [];
    let cursor: string | null = null;
    let first: Reply | undefined;
    do {
      const page: Reply = await search({ q: 'marmot', limit: 100, ...(cursor === null ? {} : { cursor }) });
      first ??= page;
      expect(page.total_estimate).toBe(first.total_estimate);
      seen.push(...said(page));
      cursor = page.next;
    } while (cursor !== null && seen.length < 2 * count);
    expect(new Set(seen).size).toBe(count);
    expect(seen).toHaveLength(count);
    expect(first?.total_estimate).toBeGreaterThan(500);
    expect(
      said(first ?? { items: [], next: null, total_estimate: 0 })
        .slice(0, 5)
        .every((text) => /^marmot \d+$/.test(text)),
    ).toBe(true);
    expect((await search({ q: 'marmot 7' })).total_estimate).toBe(1);
  });

  it('rejects an invalid search cursor, and the cursor of another search', async () => {
    await talk(...Array.from({ length: 3 }, () => 'badger'));
    const { next } = await search({ q: 'badger', limit: 1 });
    expect(next).not.toBeNull();
    for (const request of [
      { q: 'badgers', cursor: next ?? '' },
      { q: 'badger', person_id: fixture.personId, cursor: next ?? '' },
      { q: 'badger', cursor: 'x' },
      { q: 'badger', cursor: '' },
    ])
      await expect(search(request)).rejects.toMatchObject({ code: 'bad_request', reason: 'invalid_cursor' });
    expect((await search({ q: 'badger', limit: 2, cursor: next ?? '' })).items).toHaveLength(2);
  });

  it('filters search results by speaker, holon, journey and start, and returns 404 for unknown filters', async () => {
    const id = await talk('Ada: otter', 'otter');
    expect((await search({ q: 'otter', person_id: fixture.personId })).items).toHaveLength(1);
    for (const given of [{ holon_slug: 'spring' }, { journey: 'circle' }])
      expect((await search({ q: 'otter', ...given })).items).toHaveLength(2);
    expect((await search({ q: 'otter', journey: 'moving' })).items).toEqual([]);
    const [{ start } = { start: '' }] = await fixture.env.sql<{ start: string }>(
      'select conversations.iso_utc(start_at) as start from conversations.conversations where id = $1',
      [id],
    );
    const later = new Date(Date.parse(start) + 1).toISOString();
    expect((await search({ q: 'otter', from: start, to: later })).items).toHaveLength(2);
    expect((await search({ q: 'otter', to: start })).items).toEqual([]);
    expect((await search({ q: 'otter', from: later })).items).toEqual([]);
    for (const given of [
      { person_id: 2_000_000_000 },
      { person_id: -1 },
      { holon_slug: 'nowhere' },
      { journey: 'nothing' },
    ])
      await expect(search({ q: 'otter', ...given })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('text that the search never finds (T2)', () => {
  it('does not find speech outside the window, or rows that a later import replaced', async () => {
    const { id, sessionId } = await fixture.meet({
      artifact: {
        rows: [
          row(0, 1_000, 'lynx outside'),
          row(minute, minute + 1_000, 'lynx inside'),
          row(9 * minute, 9 * minute + 1, 'lynx after'),
        ],
      },
    });
    await fixture.becomes(id, 'imported');
    await indexed();
    expect(said(await search({ q: 'lynx' }))).toEqual(['lynx inside']);
    fixture.provider.setArtifact(sessionId, { rows: [row(minute, minute + 1_000, 'ibex inside')] });
    const { importTranscript } = conversations.rpcs;
    await fixture.bus.call(importTranscript, { conversation_id: id }, contextFor(importTranscript));
    await becomes(async () => expect(said(await search({ q: 'ibex' }))).toEqual(['ibex inside']));
    expect(said(await search({ q: 'lynx' }))).toEqual([]);
  });

  it('does not find rows imported without a window after a run with a window', async () => {
    const id = await talk('caribou before');
    expect((await search({ q: 'caribou' })).items).toHaveLength(1);
    await fixture.env.sql(
      `insert into transcripts.import_evidence (conversation_id, status, contract_import, session_id, session_started_at, artifact_sha256,
         artifact_bytes, window_start, window_end, raw, accepted, excluded)
       values ($1, 'transcript_window_empty', true, 's', now(), repeat('a', 64), 1, now(), now() + interval '1 hour', 0, 0,
         '{"before_window_start":0,"after_window_end":0,"crosses_window_start":0,"crosses_window_end":0,"transcript_timestamp_ambiguous":0,"transcript_timestamp_malformed":0,"empty_sentence":0}')`,
      [id],
    );
    await reindex(id);
    expect((await search({ q: 'caribou' })).items).toEqual([]);
  });

  it('does not find rows imported without a window after a run with a window that imports no rows', async () => {
    const { id, writeRoom } = await fixture.meet({
      artifact: { rows: [row(0, 1_000, 'outside')] },
      isRecorded: false,
      window: {},
    });
    const { installLegacy } = transcripts.rpcs;
    const rows = [{ start_ms: 0, end_ms: 1, person_id: null, speaker: 'Gwen', text: 'wapiti before' }];
    await fixture.bus.call(
      installLegacy,
      { items: [{ conversation_id: id, rows }], dry_run: false },
      contextFor(installLegacy),
    );
    await indexed();
    expect((await search({ q: 'wapiti' })).items).toHaveLength(1);
    await writeRoom(fullWindow);
    const { importTranscript } = conversations.rpcs;
    await fixture.bus.call(importTranscript, { conversation_id: id }, contextFor(importTranscript));
    await fixture.becomes(id, 'transcript_window_empty');
    await becomes(async () => expect((await search({ q: 'wapiti' })).items).toEqual([]));
  });

  it('does not find utterances of an erased person', async () => {
    const { ids } = await fixture.bus.call(
      directory.rpcs.applyWorkspace,
      { document: { people: [{ key: 'eve', name: 'Eve', contact: {} }] }, dry_run: false },
      contextFor(directory.rpcs.applyWorkspace),
    );
    const eve = ids['people']?.['eve'] ?? 0;
    const id = await talk('gazelle before');
    const { installLegacy, erasePerson } = transcripts.rpcs;
    const rows = [
      { start_ms: 0, end_ms: 1, person_id: eve, speaker: null, text: 'gazelle of Eve' },
      { start_ms: 2, end_ms: 3, person_id: null, speaker: 'Gwen', text: 'gazelle of Gwen' },
    ];
    await fixture.bus.call(
      installLegacy,
      { items: [{ conversation_id: id, rows }], dry_run: false },
      contextFor(installLegacy),
    );
    await indexed();
    expect(said(await search({ q: 'gazelle' }))).toHaveLength(2);
    await fixture.bus.call(
      erasePerson,
      { person_id: eve, after: 0, dry_run: false, by: byCli },
      contextFor(erasePerson),
    );
    const { items } = await search({ q: 'gazelle' });
    expect(items).toMatchObject([{ before: '[removed]', segment: { index: 1, text: 'gazelle of Gwen' } }]);
    expect((await search({ q: 'removed' })).items).toEqual([]);
    await reindex(id);
    expect((await search({ q: 'removed' })).items).toEqual([]);
    expect((await search({ q: 'gazelle' })).items).toMatchObject([{ segment: { index: 1 } }]);
  });

  it('does not find utterances of a deleted conversation until it is restored', async () => {
    const id = await talk('pelican');
    const { deleteConversation, restoreConversation } = conversations.rpcs;
    await fixture.bus.call(deleteConversation, { conversation_id: id }, contextFor(deleteConversation));
    expect(await search({ q: 'pelican' })).toEqual({ items: [], next: null, total_estimate: 0 });
    await fixture.bus.call(restoreConversation, { conversation_id: id }, contextFor(restoreConversation));
    await becomes(async () => expect((await search({ q: 'pelican' })).items).toHaveLength(1));
  });
});

describe('visibility of search results (T2; D18f, D69)', () => {
  const user = (rights: Partial<Extract<Actor, { kind: 'user' }>>): Actor => ({
    kind: 'user',
    accountId: 2_000_000,
    personId: null,
    superuser: false,
    globalEditor: false,
    coherenceAccess: false,
    ...rights,
  });

  it('hides conversations of an event as soon as its class becomes private', async () => {
    await talk('heron one');
    const stranger = user({});
    expect((await search({ q: 'heron' }, stranger)).items).toHaveLength(1);
    await makeEventsPrivate(true);
    expect(await search({ q: 'heron' }, stranger)).toEqual({ items: [], next: null, total_estimate: 0 });
    await expect(search({ q: 'heron', holon_slug: 'spring' }, stranger)).rejects.toMatchObject({ code: 'not_found' });
    expect((await search({ q: 'heron' }, user({ accountId: await lead('spring') }))).items).toHaveLength(1);
    await makeEventsPrivate(false);
    expect((await search({ q: 'heron' }, stranger)).items).toHaveLength(1);
  });

  it('returns to members search results only from conversations in which they currently participate', async () => {
    const id = await talk('egret');
    await startMembersOnly();
    const ada = user({ personId: fixture.personId });
    await becomes(async () => expect((await search({ q: 'egret' }, user({}))).items).toEqual([]));
    expect((await search({ q: 'egret' }, ada)).items).toHaveLength(1);
    expect((await search({ q: 'egret' }, user({ coherenceAccess: true }))).items).toHaveLength(1);
    // No event has been published: the search queries the conversations service for each page.
    await fixture.env.sql(`update conversations.conversations set participant_ids = '{}' where id = $1`, [id]);
    expect(await search({ q: 'egret' }, ada)).toEqual({ items: [], next: null, total_estimate: 0 });
  });

  it('returns to members search results of a conversation as soon as they are added to it', async () => {
    const { applyWorkspace } = directory.rpcs;
    const document = { people: [{ key: 'ivo', name: 'Ivo', contact: {} }] };
    const { ids } = await fixture.bus.call(applyWorkspace, { document, dry_run: false }, contextFor(applyWorkspace));
    const ivo = ids['people']?.['ivo'] ?? 0;
    const take = async (people: number[]): Promise<number> => {
      const { importConversations } = conversations.rpcs;
      const item = { key: 'avocet', participant_ids: people };
      const { items } = await fixture.bus.call(
        importConversations,
        { items: [item], dry_run: false },
        contextFor(importConversations),
      );
      return items[0]?.id ?? 0;
    };
    const id = await take([fixture.personId]);
    const { installLegacy } = transcripts.rpcs;
    const rows = [{ start_ms: 0, end_ms: 1, person_id: null, speaker: 'Gwen', text: 'avocet' }];
    await fixture.bus.call(
      installLegacy,
      { items: [{ conversation_id: id, rows }], dry_run: false },
      contextFor(installLegacy),
    );
    await indexed();
    await startMembersOnly();
    const asIvo = user({ personId: ivo });
    await becomes(async () =>
      expect((await search({ q: 'avocet' }, user({ personId: fixture.personId }))).items).toHaveLength(1),
    );
    expect((await search({ q: 'avocet' }, asIvo)).items).toEqual([]);
    await take([fixture.personId, ivo]);
    await becomes(async () => expect((await search({ q: 'avocet' }, asIvo)).items).toHaveLength(1));
  });
});

/**
 * Removes the search index of a conversation, as in a release without search. The replica that starts next indexes the
 * conversation again.
 */
async function reindex(id: number): Promise<void> {
  await fixture.env.sql('delete from transcripts.search_segments where conversation_id = $1', [id]);
  await fixture.env.sql('delete from transcripts.search_conversations where conversation_id = $1', [id]);
  await startService('transcripts', fixture.env, fixture.settings, { tuning: fastJobTuning });
  await indexed();
}

/** Creates an account with team authority over the holon. Returns the account id. */
async function lead(holon: string): Promise<number> {
  const account = {
    email: 'lead@example.org',
    person: 'ada',
    password: 'a-long-enough-password',
    teams: [{ holon, active: true }],
  };
  const { applyWorkspace } = directory.rpcs;
  await fixture.bus.call(
    applyWorkspace,
    { document: { accounts: [account] }, dry_run: false },
    contextFor(applyWorkspace),
  );
  const [row] = await fixture.env.sql<{ id: number }>('select id from directory.accounts where email = $1', [
    account.email,
  ]);
  return row?.id ?? 0;
}

async function makeEventsPrivate(isPrivate: boolean): Promise<void> {
  const document = {
    classes: [
      {
        slug: 'event',
        object_kind: 'holon',
        parent: null,
        label: 'Event',
        plural_label: 'Events',
        conversation_event: true,
        private: isPrivate,
      },
    ],
  };
  await fixture.bus.call(
    directory.rpcs.applyWorkspace,
    { document, dry_run: false },
    contextFor(directory.rpcs.applyWorkspace),
  );
}

/** Restarts the conversations service with access for members only. */
async function startMembersOnly(): Promise<void> {
  await fixture.conversations.stop();
  await startService('conversations', fixture.env, { ...fixture.env.settings, CONVERSATION_ACCESS: 'members' });
}
