import { ForgottenConversationSchema, GonePersonSchema, ImportEvidenceSchema, LegacyTranscriptSchema } from './import.entity.ts';
import { SearchConversationSchema, SearchSegmentSchema } from './search.entity.ts';
import { SpeakerSchema, TranscriptRowSchema } from './transcript.entity.ts';

/** Every table of the schema `transcripts`, but those of the job library. */
export const entities = [
  ForgottenConversationSchema,
  GonePersonSchema,
  ImportEvidenceSchema,
  LegacyTranscriptSchema,
  SearchConversationSchema,
  SearchSegmentSchema,
  SpeakerSchema,
  TranscriptRowSchema,
];
