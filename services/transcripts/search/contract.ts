/** Contract of transcript search (rules/transcripts#search; T2, T3, T6). */
import { byUsers, job, nullable, rpc, type Static, Type } from '#libs/infrastructure/contract';
import { TranscriptSpeaker } from '../render/contract.ts';
import { maxNeighbourLength, maxTextLength } from './rules/excerpt.ts';

const offset = Type.Integer({ minimum: 0 });
const neighbour = (which: string, part: string) =>
  nullable(
    Type.String({ maxLength: maxNeighbourLength }),
    `Utterance ${which}; its ${part} when it is longer than ${maxNeighbourLength} UTF-16 units; null at the edge of the transcript.`,
  );

export const TranscriptMatch = Type.Object(
  {
    conversation: Type.Object(
      {
        id: Type.Integer(),
        title: Type.String({ description: 'As in search items.' }),
        start: nullable(Type.String({ format: 'date-time' }), 'Scheduled or actual start.'),
      },
      { $id: 'SpokenConversation', description: 'Conversation of the utterance.' },
    ),
    segment: Type.Object(
      {
        index: Type.Integer({ minimum: 0, description: 'Position in the transcript, from 0.' }),
        start_ms: Type.Integer({ description: "Milliseconds from the window's start." }),
        end_ms: Type.Integer({ description: "Milliseconds from the window's start." }),
        speaker: TranscriptSpeaker,
        text: Type.String({
          maxLength: maxTextLength,
          description: `Text of the utterance; when it is longer than ${maxTextLength} UTF-16 units, the part around the matched words.`,
        }),
      },
      { $id: 'SpokenSegment', description: 'Utterance.' },
    ),
    highlights: Type.Array(Type.Array(offset, { minItems: 2, maxItems: 2 }), {
      description: 'Matched words in `text`: half-open ranges of UTF-16 units, in order.',
    }),
    before: neighbour('just before', 'end'),
    after: neighbour('just after', 'beginning'),
  },
  { $id: 'SpokenMatch', description: 'Utterance that matches a search.' },
);
export type TranscriptMatch = Static<typeof TranscriptMatch>;

export const TranscriptMatches = Type.Object(
  {
    items: Type.Array(TranscriptMatch, {
      description:
        'Best first, then newest. Fewer than `limit` when they would be more than 1 MiB, or took too long to find.',
    }),
    next: nullable(Type.String(), 'Cursor of the next page; null at the end.'),
    total_estimate: Type.Integer({ minimum: 0, description: 'Matches of all pages: exact when there are few.' }),
  },
  { $id: 'SpokenMatches', description: 'Page of utterances.' },
);

/** Default number of matches per page. */
export const defaultLimit = 20;

/** Query parameters of the search. */
export const transcriptSearchFilters = {
  q: Type.String({
    minLength: 1,
    maxLength: 500,
    description:
      'Words, all of them in one utterance; `"a phrase"`, `-without`, `begin*`. Case and accents do not matter.',
  }),
  person_id: Type.Optional(Type.Integer({ description: 'Said by this person.' })),
  holon_slug: Type.Optional(Type.String({ description: 'In conversations whose event is this holon or below it.' })),
  journey: Type.Optional(Type.String({ description: 'In conversations of the journey with this slug.' })),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'In conversations that start then or later.' })),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'In conversations that start before.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: `Default ${defaultLimit}.` })),
  cursor: Type.Optional(Type.String({ description: '`next` of the page before, with the same filters.' })),
};

export const searchRpcs = {
  search: rpc({
    subject: 'transcripts.transcripts.search',
    callers: byUsers,
    summary: 'Searches transcripts that the caller can read. 404 when a filter matches no object.',
    request: Type.Object(transcriptSearchFilters),
    reply: TranscriptMatches,
    errors: { invalid_cursor: { code: 'bad_request', when: '`cursor` does not belong to this search.' } },
  }),
} as const;

/** Maximum conversations per job. */
export const maxIndexed = 1_000;

export const searchJobs = {
  indexTranscripts: job({
    type: 'transcripts.index-transcripts',
    summary: 'Makes what was said in conversations searchable after their rows have changed (T2).',
    payload: Type.Object({
      conversation_ids: Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: maxIndexed }),
    }),
    policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 300_000, timeoutMs: 1_800_000, concurrency: 1 },
  }),
} as const;

export const searchConsumers = {
  conversationChanged: {
    stream: 'EVENTS',
    durable: 'transcripts-conversation-changed',
    filter: 'events.conversations.conversation.changed',
  },
} as const;
