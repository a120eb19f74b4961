/** Contract of the transcript file in its formats (rules/transcripts#transcript-file; T1, T5). */
import { byClients, nullable, withoutActor, rpc, type Static, Type } from '#libs/infrastructure/contract';
import { conversationId } from '../evidence/contract.ts';

/** Formats in the order of preference (T5). */
export const transcriptFormats = ['md', 'json', 'vtt', 'srt', 'txt'] as const;
export type TranscriptFormat = (typeof transcriptFormats)[number];

export const TranscriptSpeaker = Type.Object(
  {
    key: Type.String({ description: 'The id that `person_id` takes, as text.' }),
    person_id: nullable(Type.Integer(), 'The person; null for an unresolved speaker.'),
    name: Type.String({ description: "The person's present name; else the provider's, or a number." }),
  },
  { $id: 'TranscriptSpeaker', description: 'Who spoke.' },
);

const instant = (description: string) => Type.String({ format: 'date-time', description });

export const Transcript = Type.Object(
  {
    conversation_id: Type.Integer(),
    window: nullable(
      Type.Object(
        { start: instant('Its start, from which all times count.'), end: instant('Its end.') },
        { $id: 'TranscriptSpan', description: 'A part of time.' },
      ),
      'The window under which the rows were cut; null for rows of a bulk import.',
    ),
    segments: Type.Array(
      Type.Object(
        {
          index: Type.Integer({
            minimum: 0,
            description: 'Place in the whole transcript, from 0; a filter leaves it as it is.',
          }),
          start_ms: Type.Integer({ description: "Milliseconds from the window's start." }),
          end_ms: Type.Integer({ description: "Milliseconds from the window's start." }),
          started_at: nullable(
            instant(''),
            "Time of the utterance. Without a window it counts from the conversation's start; null when the start is unknown.",
          ),
          speaker: TranscriptSpeaker,
          text: Type.String({ description: 'Text of the utterance, including line breaks.' }),
        },
        { $id: 'TranscriptSegment', description: 'One row: an utterance.' },
      ),
      { description: 'In order of time.' },
    ),
  },
  { $id: 'Transcript', description: 'A transcript as data.' },
);
export type Transcript = Static<typeof Transcript>;

/** Parameters that select a range of rows: limit and offset. */
export const transcriptPart = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, description: 'At most so many utterances, 1 to 1000; absent: all.' }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      default: 0,
      description: 'Utterances of the whole transcript before them.',
    }),
  ),
};

export const renderRpcs = {
  render: rpc({
    subject: 'transcripts.transcripts.render',
    callers: { ...byClients, agents: withoutActor },
    summary: 'Write the transcript of a conversation in one of its formats',
    request: Type.Object({
      conversation_id: conversationId,
      person_id: Type.Optional(
        Type.Integer({ description: 'Only this speaker: a person id, or a negative unresolved-speaker id.' }),
      ),
      format: Type.Optional(Type.Enum(transcriptFormats, { description: 'Default `md`.' })),
      ...transcriptPart,
    }),
    reply: Type.Union([
      Type.String({ description: 'UTF-8 text, as raw bytes rather than a JSON string.' }),
      Transcript,
    ]),
    timeoutMs: 60_000,
  }),
  caption: rpc({
    subject: 'transcripts.transcripts.caption',
    callers: { media: withoutActor },
    summary: "WebVTT captions of a conversation's video (T4). 404 without a transcript.",
    request: Type.Object({
      conversation_id: conversationId,
      video_started_at: nullable(
        Type.String({ format: 'date-time' }),
        'When the video begins; null for one that begins with the window, or when it is not known.',
      ),
    }),
    reply: Type.String({ description: 'UTF-8 WebVTT, as raw bytes rather than a JSON string.' }),
    timeoutMs: 60_000,
  }),
} as const;
