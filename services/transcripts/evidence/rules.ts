/** Decides the transitions of a conversation's import evidence (rules/transcripts#import-statuses; D7, D7a). */
import type { Instant } from '#libs/infrastructure/time';
import type { ArtifactFormat } from '../artifact/index.ts';
import type { FilterCounts, Window } from '../row-filter.ts';
import type { ImportStatus } from './contract.ts';

/** The artifact that a run read. */
export interface Artifact {
  /** Format of the artifact; null for audio. */
  readonly format: ArtifactFormat | null;
  readonly sessionId: string;
  /** Instant from which the artifact's offsets are counted. */
  readonly sessionStart: Instant;
  /** SHA-256 of the exact bytes, lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
}

/** Result of a run: either no usable window, or the counts of the filter. */
export type RunResult =
  | { readonly status: 'transcript_window_missing' | 'invalid_transcript_window' }
  | {
      readonly status: 'imported' | 'transcript_window_empty' | 'install_refused_or_incomplete';
      readonly artifact: Artifact;
      readonly window: Window;
      readonly counts: FilterCounts;
      /** Number of stored rows; null if the installation did not complete. */
      readonly installedSegments: number | null;
    };

export interface EvidenceRecord {
  readonly status: ImportStatus;
  readonly contractImport: boolean;
  readonly artifact: Artifact | null;
  readonly window: Window | null;
  readonly counts: FilterCounts | null;
  readonly installedSegments: number | null;
}

/** The stored evidence before the run ends. */
export interface EvidenceState {
  readonly status: ImportStatus;
  readonly contractImport: boolean;
  /** Whether rows are stored. While `contractImport` is false, these rows were never filtered by a window. */
  readonly hasRows: boolean;
  /** Digest of the last artifact. */
  readonly sha256: string | null;
  readonly window: Window | null;
}

/** Whether readers see a difference: another status, or a transcript of another artifact or window (V9). */
export function isChanged({ status, sha256, window }: EvidenceState, next: EvidenceRecord): boolean {
  if (next.status !== status) return true;
  if (next.status !== 'imported') return false;
  return next.artifact?.sha256 !== sha256 || next.window?.start !== window?.start || next.window?.end !== window?.end;
}

/**
 * Returns the status of a conversation without recorded evidence: `legacy_unbounded` with rows of a bulk import,
 * otherwise `never_ran`.
 */
export function statusWithoutRecord(hasRows: boolean): ImportStatus {
  return hasRows ? 'legacy_unbounded' : 'never_ran';
}

/**
 * Returns the evidence after a run; undefined = unchanged. Usually the last finished run decides. But `imported`
 * evidence remains when a later run fails, and unfiltered rows remain `legacy_unbounded` without a usable window.
 */
export function decideEvidence(state: EvidenceState, result: RunResult): EvidenceRecord | undefined {
  if (state.status === 'imported' && result.status !== 'imported') return undefined;
  if (!('artifact' in result)) {
    const isLegacy = state.hasRows && !state.contractImport;
    return {
      status: isLegacy ? 'legacy_unbounded' : result.status,
      contractImport: state.contractImport,
      artifact: null,
      window: null,
      counts: null,
      installedSegments: null,
    };
  }
  return {
    status: result.status,
    contractImport: true,
    artifact: result.artifact,
    window: result.window,
    counts: result.counts,
    installedSegments: result.installedSegments,
  };
}
