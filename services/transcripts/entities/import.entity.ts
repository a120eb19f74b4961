/** How rows came: the evidence of imports, digests of bulk imports, and conversations that get none any more. */
import type { ArtifactFormat } from '../artifact/index.ts';
import type { ImportStatus } from '../evidence/contract.ts';
import { columns, defineEntity, p } from '#libs/orm/entities';

/** One row for each conversation; checks hold its sums and transitions. */
export const ImportEvidenceSchema = defineEntity({
  name: 'ImportEvidence',
  tableName: 'import_evidence',
  schema: 'transcripts',
  properties: {
    conversationId: p.integer().primary(),
    status: p.text().$type<ImportStatus>(),
    contractImport: p.boolean(),
    sessionId: p.text().nullable(),
    sessionStartedAt: columns.instant().nullable(),
    artifactSha256: p.text().nullable(),
    artifactBytes: p.bigint().nullable(),
    artifactFormat: p.text().$type<ArtifactFormat>().nullable(),
    windowStart: columns.instant().nullable(),
    windowEnd: columns.instant().nullable(),
    raw: p.integer().nullable(),
    accepted: p.integer().nullable(),
    installedSegments: p.integer().nullable(),
    excluded: p.json<Record<string, number>>().nullable(),
    recordedAt: columns.now(),
  },
});

/** Digests of the rows that came by bulk import, as they were given. */
export const LegacyTranscriptSchema = defineEntity({
  name: 'LegacyTranscript',
  tableName: 'legacy_transcripts',
  schema: 'transcripts',
  properties: { conversationId: p.integer().primary(), sha256: p.text(), installedAt: columns.now() },
});

/** People who were erased (`intoId` null) or merged, whom an import under way may still name. */
export const GonePersonSchema = defineEntity({
  name: 'GonePerson',
  tableName: 'gone_people',
  schema: 'transcripts',
  properties: { personId: p.integer().primary(), intoId: p.integer().nullable(), goneAt: columns.now() },
});

/** Conversations that are gone for good. */
export const ForgottenConversationSchema = defineEntity({
  name: 'ForgottenConversation',
  tableName: 'forgotten_conversations',
  schema: 'transcripts',
  properties: { conversationId: p.integer().primary(), forgottenAt: columns.now() },
});
