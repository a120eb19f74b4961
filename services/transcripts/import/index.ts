/** Steps that imports and audio transcriptions share: reading the source, parsing the window, recording the result. */
import { AppError } from '#libs/infrastructure/errors';
import type { JobRun } from '#libs/infrastructure/jobs';
import type { Bus } from '#libs/infrastructure/nats';
import type { PipelinePayload } from '#libs/product/pipeline';
import { parseInstant } from '#libs/infrastructure/time';
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { Tx } from '#libs/infrastructure/orm';
import { conversations } from '#services/conversations';
import type { Window } from '../row-filter.ts';
import { type ImportStatus, transcriptFeed } from '../evidence/contract.ts';
import {
  decideEvidence,
  isChanged,
  lockForWriting,
  readEvidenceState,
  type RunResult,
  saveEvidence,
} from '../evidence/index.ts';

export { InstallRefused, installTranscript } from './install.ts';

export type Run = JobRun<PipelinePayload>;

/** Returns window, meeting and participants of the conversation. Returns undefined when the conversation is deleted. */
export async function readSource(bus: Bus, run: Run) {
  try {
    return await bus.call(
      conversations.rpcs.getTranscriptSource,
      { conversation_id: run.payload.conversation_id },
      run.context,
    );
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}

export type StoredWindow = { kind: 'usable'; window: Window } | { kind: 'missing' } | { kind: 'invalid' };

/**
 * Parses the stored window (rules/room#transcript-window; D7, D7b). `missing`: a boundary is not set. `invalid`: a
 * boundary is not an instant with an offset, or the end is not after the start.
 */
export function parseWindow(stored: {
  conversation_started_at: string | null;
  capture_ended_at: string | null;
}): StoredWindow {
  const { conversation_started_at: startText, capture_ended_at: endText } = stored;
  if (startText === null || endText === null) return { kind: 'missing' };
  const start = parseInstant(startText);
  const end = parseInstant(endText);
  if (start.kind !== 'instant' || end.kind !== 'instant' || end.instant <= start.instant) return { kind: 'invalid' };
  return { kind: 'usable', window: { start: start.instant, end: end.instant } };
}

export type FinishedStatus = ImportStatus | 'conversation_gone';

/**
 * Applies the result to the stored evidence, and emits an event when evidence or rows have changed. Returns the stored
 * status.
 * @param changed whether the installed rows differ from the previous rows
 */
export async function recordResult(
  eventOutbox: EventOutbox,
  tx: Tx,
  conversationId: number,
  result: RunResult,
  changed = false,
): Promise<FinishedStatus> {
  if (!(await lockForWriting(tx, conversationId))) return 'conversation_gone';
  const state = await readEvidenceState(tx, conversationId);
  const next = decideEvidence(state, result);
  if (next === undefined) return state.status;
  await saveEvidence(tx, conversationId, next);
  if (changed || isChanged(state, next)) addEvent(eventOutbox, tx, conversationId, next.status);
  return next.status;
}

function addEvent(eventOutbox: EventOutbox, tx: Tx, subject: number, status: ImportStatus): void {
  if (status === 'imported') eventOutbox.add(tx, transcriptFeed.imported, { subject, data: {} });
  else if (status !== 'never_ran') eventOutbox.add(tx, transcriptFeed.refused, { subject, data: { status } });
}
