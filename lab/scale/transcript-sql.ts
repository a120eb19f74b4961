/**
 * Transcripts for the search: 1,000 utterances each of 12 generated words. Word frequency follows rank, as in natural
 * language: the first is in more than half of the utterances, the last in one of a hundred thousand.
 */
import type { Seed } from './fill.ts';
import { conversationSeed } from './seed-sql.ts';

export const usualRowsPerConversation = 1_000;
/** Number of conversations without a transcript, into which imports write. */
export const emptyConversations = 200;
const wordsPerRow = 12;
const rowsPerBatch = 250_000;
const syllables = [
  'ba',
  'ce',
  'di',
  'fo',
  'gu',
  'ha',
  'je',
  'ki',
  'lo',
  'mu',
  'na',
  'pe',
  'ri',
  'so',
  'tu',
  'va',
  'we',
  'xi',
  'yo',
  'zu',
];
const syllablesPerWord = 4;
export const vocabulary = syllables.length ** syllablesPerWord;

/** Returns the word of a rank. Words with adjacent ranks have the same prefix. */
export function wordOf(rank: number): string {
  const at = (position: number): string =>
    syllables[Math.floor(rank / syllables.length ** position) % syllables.length] ?? '';
  return Array.from({ length: syllablesPerWord }, (_, index) => at(syllablesPerWord - 1 - index)).join('');
}

export interface TranscriptSizes {
  readonly rows: number;
  readonly rowsPerConversation: number;
}

export const transcriptCount = ({ rows, rowsPerConversation }: TranscriptSizes): number =>
  Math.ceil(rows / rowsPerConversation);

export function transcriptSeed(sizes: TranscriptSizes): Seed {
  const { rows } = sizes;
  const transcripts = transcriptCount(sizes);
  const conversations = transcripts + emptyConversations;
  const { tables, identities, steps } = conversationSeed({
    conversations,
    people: Math.max(200, Math.round(conversations / 5)),
    holons: Math.ceil(conversations / 50) + 100,
  });
  const batches = Array.from({ length: Math.ceil(rows / rowsPerBatch) }, (_, batch) => {
    const last = Math.min((batch + 1) * rowsPerBatch, rows);
    return {
      what: `${last} of ${rows} utterances`,
      sql: utterances(sizes.rowsPerConversation, batch * rowsPerBatch + 1, last),
    };
  });
  return {
    tables: [...tables, 'transcripts.transcript_rows', 'transcripts.search_segments'],
    identities,
    steps: [
      ...steps,
      { what: 'what decides who may find what was said', sql: facts },
      {
        what: 'speakers',
        sql: `insert into transcripts.speakers (conversation_id, speaker_key, person_id)
        select c.id, 'person-' || p, p from conversations.conversations c, unnest(c.participant_ids) as p where c.id <= ${transcripts}`,
      },
      ...batches,
    ],
  };
}

const facts = `insert into transcripts.search_conversations (conversation_id, start_at, has_start, event_id, journey_id, participant_ids, version)
  select id, coalesce(start_at, '0001-01-01 00:00:00+00'), start_at is not null, event_id, journey_id, participant_ids, updated_at
  from conversations.conversations`;

/**
 * Returns SQL for the rows `first` to `last` with their words, as the importer and its index would store them. For
 * words of the letters a-z, PostgreSQL's configuration `simple` produces the same words. `offset 0` generates each rank
 * only once.
 */
function utterances(rowsPerConversation: number, first: number, last: number): string {
  const names = Array.from({ length: wordsPerRow }, (_, index) => index);
  const list = `'{${syllables.join(',')}}'::text[]`;
  const rank = (index: number): string =>
    `floor(power(${vocabulary}::float8, (hashint8extended(n::bigint * ${wordsPerRow} + ${index}, 7) & 9007199254740991)::float8 / 9007199254740992::float8))::integer`;
  const word = (name: string): string =>
    Array.from(
      { length: syllablesPerWord },
      (_, position) =>
        `(${list})[1 + ${name} / ${syllables.length ** (syllablesPerWord - 1 - position)} % ${syllables.length}]`,
    ).join(' || ');
  return `with said as (
      select 1 + (n - 1) / ${rowsPerConversation} as conversation_id, ((n - 1) % ${rowsPerConversation})::integer as place,
        ${names.map((index) => word(`r${index}`)).join(" || ' ' || ")} as text
      from generate_series(${first}, ${last}) as n, lateral (select ${names.map((index) => `${rank(index)} as r${index}`).join(', ')} offset 0) as ranks
    ), spoken as (
      select s.*, s.place * 4000000::bigint as start_us, c.participant_ids[1 + s.place % cardinality(c.participant_ids)] as person_id
      from said s join conversations.conversations c on c.id = s.conversation_id
    ), stored as (
      insert into transcripts.transcript_rows (conversation_id, start_us, position, end_us, person_id, text)
      select conversation_id, start_us, place, start_us + 3500000, person_id, text from spoken
    )
    insert into transcripts.search_segments (conversation_id, segment_index, start_us, position, person_id, words)
    select conversation_id, place, start_us, place, person_id, to_tsvector('simple', text) from spoken`;
}
