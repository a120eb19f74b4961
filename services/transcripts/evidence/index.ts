/** Locks, reads and stores the import evidence of a conversation. */
import type { Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import { formatInstant, type Instant, parseInstant } from '#libs/infrastructure/time';
import { type EvidenceRecord, type EvidenceState, statusWithoutRecord } from './rules.ts';
import { findPermanentlyDeleted, getState, lockConversation, upsertEvidence } from './statements.ts';

/**
 * `lockForWriting` waits for other writers of the conversation. It returns false when the conversation is permanently
 * deleted and nothing may be stored.
 */
export { type Artifact, decideEvidence, isChanged, type RunResult } from './rules.ts';
export { lockConversation } from './statements.ts';

export async function lockForWriting(tx: Tx, conversationId: number): Promise<boolean> {
  await lockConversation(tx, { conversationId });
  return (await findPermanentlyDeleted(tx, { conversationId })) === undefined;
}

export async function readEvidenceState(db: Queryable, conversationId: number): Promise<EvidenceState> {
  const { status, contract_import: contractImport, has_rows: hasRows, ...row } = await getState(db, { conversationId });
  const [start, end] = [readInstant(row.window_start), readInstant(row.window_end)];
  const window = start === undefined || end === undefined ? null : { start, end };
  return {
    status: status ?? statusWithoutRecord(hasRows),
    contractImport,
    hasRows,
    sha256: row.artifact_sha256,
    window,
  };
}

function readInstant(text: string | null): Instant | undefined {
  const parsed = text === null ? undefined : parseInstant(text);
  return parsed?.kind === 'instant' ? parsed.instant : undefined;
}

export async function saveEvidence(tx: Tx, conversationId: number, record: EvidenceRecord): Promise<void> {
  const { artifact, window, counts } = record;
  await upsertEvidence(tx, {
    conversationId,
    status: record.status,
    contractImport: record.contractImport,
    sessionId: artifact?.sessionId,
    sessionStartedAt: artifact === null ? null : formatInstant(artifact.sessionStart),
    artifactSha256: artifact?.sha256,
    artifactBytes: artifact?.bytes,
    artifactFormat: artifact?.format,
    windowStart: window === null ? null : formatInstant(window.start),
    windowEnd: window === null ? null : formatInstant(window.end),
    raw: counts?.raw,
    accepted: counts?.accepted,
    installedSegments: record.installedSegments,
    excluded: counts === null ? null : JSON.stringify(counts.excludedByReason),
  });
}
