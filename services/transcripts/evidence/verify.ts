/** Recomputes import evidence from a caller's copy of the artifact (rules/transcripts#import-evidence). */
import { createHash } from 'node:crypto';
import { parseInstant, type Instant } from '#libs/infrastructure/time';
import { scanArtifact } from '../artifact/index.ts';
import { RowFilter, type FilterCounts, type Window } from '../row-filter.ts';
import { exclusionReasons, type ImportEvidence } from './contract.ts';

export interface Recomputed {
  readonly sha256: string;
  readonly bytes: number;
  readonly counts: FilterCounts;
}

/** A field with different values in the copy and the evidence. */
export interface Difference {
  readonly field: string;
  readonly evidence: number | string | null;
  readonly copy: number | string | null;
}

/** Returns the SHA-256 of the copy in lower-case hex. */
export async function hashArtifact(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

/**
 * Recomputes the evidence. Reads the copy as the importer reads an artifact.
 * @returns undefined when the evidence has no window or no session start
 * @throws UnreadableArtifact when the copy is not a transcript
 */
export async function recomputeEvidence(
  chunks: AsyncIterable<Uint8Array>,
  basis: { evidence: Pick<ImportEvidence, 'window'>; session_started_at: string | null },
): Promise<Recomputed | undefined> {
  const window = readWindow(basis.evidence);
  const sessionStart = readInstant(basis.session_started_at);
  if (window === undefined || sessionStart === undefined) return undefined;
  const filter = new RowFilter({ window, sessionStart });
  const { sha256, bytes } = await scanArtifact(chunks, filter, { onAccepted: () => undefined });
  return { sha256, bytes, counts: filter.finish() };
}

/** Returns the fields that differ; empty when the copy is the imported artifact, filtered as the evidence states. */
export function compareEvidence(evidence: Pick<ImportEvidence, 'artifact' | 'counts'>, copy: Recomputed): Difference[] {
  const { artifact, counts } = evidence;
  const fields: Difference[] = [
    { field: 'artifact.sha256', evidence: artifact?.sha256 ?? null, copy: copy.sha256 },
    { field: 'artifact.bytes', evidence: artifact?.bytes ?? null, copy: copy.bytes },
    { field: 'counts.raw', evidence: counts?.raw ?? null, copy: copy.counts.raw },
    { field: 'counts.accepted', evidence: counts?.accepted ?? null, copy: copy.counts.accepted },
    ...exclusionReasons.map((reason) => ({
      field: `counts.excludedByReason.${reason}`,
      evidence: counts?.excludedByReason[reason] ?? null,
      copy: copy.counts.excludedByReason[reason],
    })),
  ];
  return fields.filter((item) => item.evidence !== item.copy);
}

function readWindow({ window }: Pick<ImportEvidence, 'window'>): Window | undefined {
  const start = readInstant(window?.conversationStartedAt ?? null);
  const end = readInstant(window?.captureEndedAt ?? null);
  return start === undefined || end === undefined ? undefined : { start, end };
}

function readInstant(text: string | null): Instant | undefined {
  const parsed = text === null ? undefined : parseInstant(text);
  return parsed?.kind === 'instant' ? parsed.instant : undefined;
}
