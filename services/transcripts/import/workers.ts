/**
 * Job `transcripts.transcript-import` (architecture#a-recorded-meeting; D7, D7a): reads window and session, downloads
 * and filters the artifact, and stores the rows with evidence. Messages, log lines, payloads and results never contain
 * speech or names.
 */
import { AppError, unavailable } from '#libs/infrastructure/errors';
import { PermanentJobError, RetryLater } from '#libs/infrastructure/jobs';
import type { Tx } from '#libs/infrastructure/orm';
import { transcriptImport as declaration } from '#libs/product/pipeline';
import {
  type PipelineOutcome,
  type PipelineRun,
  pipelineWorker,
  type PipelineWorker,
} from '#libs/product/pipeline-worker';
import { chooseByOverlap, DownloadTooLarge, type MeetingSession, ProviderBusy } from '#libs/product/realtimekit';
import { TruncatedArtifact, UnreadableArtifact, WrongEncoding } from '../artifact/index.ts';
import { lockForWriting, type RunResult } from '../evidence/index.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Window } from '../row-filter.ts';
import { rowsChanged } from '../search/index.ts';
import type { RoomParticipant } from '../speaker.ts';
import { InstallRefused, installRows } from './install.ts';
import { type FinishedStatus, parseWindow, readSource, recordResult, type Run } from './index.ts';
import { createFilter, type OpenArtifact, type Survey, surveyArtifact } from './survey.ts';

type TranscriptImportDependencies = Pick<
  Dependencies,
  'db' | 'bus' | 'jobs' | 'eventOutbox' | 'provider' | 'countImport'
>;

type Step = PipelineRun<unknown>;

export function createTranscriptImport(deps: TranscriptImportDependencies): PipelineWorker {
  return pipelineWorker(declaration, async (step) => {
    try {
      await importTranscript(deps, step);
    } catch (error) {
      throw toJobError(error);
    }
  });
}

/**
 * Converts an error for the job runner. Permanent errors end the job, rate limits delay it, other errors follow the
 * retry policy.
 */
function toJobError(error: unknown): unknown {
  // Another download may be complete, so the job retries as after a 5xx status.
  if (error instanceof TruncatedArtifact) return unavailable(error.message);
  if (error instanceof UnreadableArtifact || error instanceof DownloadTooLarge)
    return new PermanentJobError(error.message);
  if (error instanceof ProviderBusy) return new RetryLater(error.message, { delayMs: error.retryAfterMs });
  if (error instanceof InstallRefused) return new AppError({ code: 'internal', message: error.message });
  return error;
}

async function importTranscript(deps: TranscriptImportDependencies, step: Step): Promise<void> {
  const { run } = step;
  const source = await readSource(deps.bus, run);
  if (source === undefined) return finish(deps, step, () => Promise.resolve('conversation_gone'));
  const window = parseWindow(source.window);
  if (window.kind !== 'usable') {
    const status = window.kind === 'missing' ? 'transcript_window_missing' : 'invalid_transcript_window';
    return finish(deps, step, (tx) => recordResult(deps.eventOutbox, tx, run.payload.conversation_id, { status }));
  }
  const { session, open } = await findArtifact(deps, run, source.meeting_id, window.window);
  let survey: Survey;
  try {
    survey = await surveyArtifact(open, session, window.window, () => run.progress(25));
  } catch (error) {
    if (error instanceof WrongEncoding)
      await recordEncoding(deps, run.payload.conversation_id, { session, window: window.window }, error);
    throw error;
  }
  if (survey.counts.accepted === 0) {
    const result: RunResult = { ...survey, status: 'transcript_window_empty', installedSegments: null };
    return finish(deps, step, (tx) => recordWindow(deps, tx, run.payload.conversation_id, result), survey);
  }
  run.progress(50, 'installing rows');
  try {
    await finish(deps, step, (tx) => install(deps, run, tx, { survey, participants: source.participants }), survey);
  } catch (error) {
    if (error instanceof InstallRefused) await recordRefusal(deps, run.payload.conversation_id, survey, error);
    throw error;
  }
}

async function findArtifact(
  deps: TranscriptImportDependencies,
  run: Run,
  meetingId: string | null,
  window: Window,
): Promise<{ session: MeetingSession; open: OpenArtifact }> {
  const { provider } = deps;
  if (provider === undefined) throw unavailable('no meeting provider is configured');
  if (meetingId === null) throw unavailable('the conversation has no meeting yet');
  run.progress(0, 'looking for the session');
  const session = chooseByOverlap(await provider.listSessions(meetingId, run.signal), window);
  if (session === undefined) throw unavailable('the meeting has no session that overlaps the window yet');
  run.progress(1, 'reading the artifact');
  return { session, open: () => provider.openArtifact(session.id, run.signal) };
}

async function finish(
  deps: TranscriptImportDependencies,
  step: Step,
  work: (tx: Tx) => Promise<FinishedStatus>,
  survey?: Survey,
): Promise<void> {
  let status: FinishedStatus = 'conversation_gone';
  await step.finish(async (tx) => {
    status = await work(tx);
    return describe(status, survey);
  });
  deps.countImport(status);
  step.run.logger.info({ conversationId: step.conversationId, status }, 'transcript import finished');
}

const csvNote = '; the provider sent CSV without end times, so that no row can be placed in the window';

function describe(status: FinishedStatus, survey: Survey | undefined): PipelineOutcome {
  const rows = survey === undefined ? '' : `; ${survey.counts.accepted} of ${survey.counts.raw} rows lie in the window`;
  const ends = survey?.artifact.format === 'csv' ? csvNote : '';
  const note = status === 'conversation_gone' ? null : `${declaration.name} finished: ${status}${rows}${ends}`;
  return { result: { status }, note, succeeded: status === 'imported' };
}

async function install(
  { jobs, eventOutbox }: TranscriptImportDependencies,
  run: Run,
  tx: Tx,
  what: { survey: Survey; participants: readonly RoomParticipant[] },
): Promise<FinishedStatus> {
  const { conversation_id: conversationId } = run.payload;
  if (!(await lockForWriting(tx, conversationId))) return 'conversation_gone';
  const { segments: installedSegments, changed } = await installRows(
    tx,
    conversationId,
    what.survey,
    what.participants,
  );
  await rowsChanged(jobs, tx, [conversationId]);
  return await recordResult(
    eventOutbox,
    tx,
    conversationId,
    { ...what.survey, status: 'imported', installedSegments },
    changed,
  );
}

/** Records that the database rejected the rows, after the transaction was rolled back. The job is retried. */
async function recordRefusal(
  deps: TranscriptImportDependencies,
  conversationId: number,
  survey: Survey,
  refusal: InstallRefused,
): Promise<void> {
  const result: RunResult = {
    ...survey,
    status: 'install_refused_or_incomplete',
    installedSegments: refusal.installedSegments,
  };
  await deps.db.transaction((tx) => recordWindow(deps, tx, conversationId, result));
}

/** Records an artifact that was rejected for its encoding. */
async function recordEncoding(
  deps: TranscriptImportDependencies,
  conversationId: number,
  { session, window }: { session: MeetingSession; window: Window },
  { scanned }: WrongEncoding,
): Promise<void> {
  const artifact = { format: null, sessionId: session.id, sessionStart: session.start, ...scanned };
  const counts = createFilter(session.start, window).finish();
  const result: RunResult = {
    artifact,
    window,
    counts,
    status: 'install_refused_or_incomplete',
    installedSegments: null,
  };
  await deps.db.transaction((tx) => recordWindow(deps, tx, conversationId, result));
}

/** Records the window of a run. Also updates the search index, since stored rows may be outside the new window. */
async function recordWindow(
  { jobs, eventOutbox }: TranscriptImportDependencies,
  tx: Tx,
  conversationId: number,
  result: RunResult,
): Promise<FinishedStatus> {
  const finished = await recordResult(eventOutbox, tx, conversationId, result);
  await rowsChanged(jobs, tx, [conversationId]);
  return finished;
}
