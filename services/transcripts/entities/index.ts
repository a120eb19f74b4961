import { ImportEvidenceSchema, LegacyTranscriptSchema, ForgottenConversationSchema } from './import.entity.ts';
import { SpeakerSchema, TranscriptRowSchema } from './transcript.entity.ts';

/** Every table of the schema `transcripts`, but those of the job library. */
export const entities = [ForgottenConversationSchema, ImportEvidenceSchema, LegacyTranscriptSchema, SpeakerSchema, TranscriptRowSchema];
