/** Reads an artifact a second time and replaces the stored rows with its accepted rows, in the caller's transaction. */
import { unavailable } from '#libs/infrastructure/errors';
import { mayPass, sqlStateOf, type Tx } from '#libs/infrastructure/orm';
import { scanArtifact } from '../artifact/index.ts';
import { erasedText } from '../person-data/contract.ts';
import { replaceErasedPeople } from '../person-data/index.ts';
import type { AcceptedRow } from '../row-filter.ts';
import { assignSpeakers, attributedId, parseSpeaker, type RoomParticipant, type Speaker } from '../speaker.ts';
import { listSpeakers } from '../speaker-names.ts';
import {
  countRows,
  deleteRows,
  digestTranscript,
  insertRows,
  keepTransactionAlive,
  upsertSpeakers,
} from './statements.ts';
import { createFilter, type Survey } from './survey.ts';

/**
 * The database rejected rows, or the number of stored rows differs from the number of accepted rows. The cause is
 * omitted because the database's message quotes the rejected row.
 */
export class InstallRefused extends Error {
  /** Number of stored rows; null when the installation did not complete. */
  readonly installedSegments: number | null;

  constructor(reason: string, installedSegments: number | null) {
    super(`the transcript could not be installed: ${reason}`);
    this.name = 'InstallRefused';
    this.installedSegments = installedSegments;
  }
}

const rowsPerBatch = 1_000;

const charactersPerBatch = 1_048_576;

/**
 * Maximum time without a statement. The database ends a transaction that is idle for a minute, which a slow download
 * can cause.
 */
const maxIdleMs = 15_000;

/** A row to store. Times are microseconds from the window's start. */
interface NewRow {
  readonly startUs: bigint;
  /** Order among rows with the same start time. */
  readonly position: number;
  readonly endUs: bigint;
  readonly personId: number;
  readonly text: string;
}

/** Receives the rows of a transcript. Each row contains the source's description of the speaker. */
export interface RowSink {
  add(row: AcceptedRow, position: number): void;
  /** Stores the collected rows when there are enough of them. Call it regularly. */
  pause(): Promise<void>;
}

export interface NewTranscript {
  /** Speakers of the rows, in order of first appearance. */
  readonly speakers: readonly Speaker[];
  readonly participants: readonly RoomParticipant[];
  /** Number of accepted rows. */
  readonly accepted: number;
  /** Passes every row to the sink. */
  readonly writeRows: (sink: RowSink) => Promise<void>;
}

export interface InstalledTranscript {
  /** Number of stored rows; equals the number of accepted rows. */
  readonly segments: number;
  /** Whether readers see a difference. */
  readonly changed: boolean;
}

/**
 * Installs the rows of a surveyed artifact. The caller has locked the conversation.
 * @throws InstallRefused; AppError unavailable when the artifact has changed since the survey, or cannot be read.
 */
export async function installRows(
  tx: Tx,
  conversationId: number,
  survey: Survey,
  participants: readonly RoomParticipant[],
): Promise<InstalledTranscript> {
  const writeRows = async (sink: RowSink): Promise<void> => {
    const filter = createFilter(survey.artifact.sessionStart, survey.window);
    const scanned = await scanArtifact(await survey.reopen(), filter, {
      onAccepted: (row, position) => sink.add(row, position),
      onChunk: () => sink.pause(),
    });
    if (scanned.sha256 !== survey.artifact.sha256) throw changed();
  };
  return installTranscript(tx, conversationId, {
    speakers: survey.speakers,
    participants,
    accepted: survey.counts.accepted,
    writeRows,
  });
}

/** Replaces the rows of the conversation. The caller has locked the conversation. @throws InstallRefused */
export async function installTranscript(
  tx: Tx,
  conversationId: number,
  transcript: NewTranscript,
): Promise<InstalledTranscript> {
  const { digest: before } = await digestTranscript(tx, { conversationId });
  const speakers = assignSpeakers(
    transcript.speakers,
    transcript.participants,
    await listSpeakers(tx, { conversationIds: [conversationId] }),
  );
  const attributions = new Map(
    speakers.map((speaker) => [speaker.key, { personId: attributedId(speaker), erased: speaker.erased }]),
  );
  await withoutSpeechInErrors(async () => {
    await upsertSpeakers(tx, {
      conversationId,
      keys: speakers.map((speaker) => speaker.key),
      numbers: speakers.map((speaker) => speaker.number),
      personIds: speakers.map((speaker) => speaker.personId),
      displayNames: speakers.map((speaker) => speaker.displayName),
    });
    await deleteRows(tx, { conversationId });
  });

  let batch: NewRow[] = [];
  let characters = 0;
  let flushedAtMs = performance.now();
  const flush = async (): Promise<void> => {
    const rows = batch;
    batch = [];
    characters = 0;
    flushedAtMs = performance.now();
    if (rows.length === 0) await keepTransactionAlive(tx);
    else await withoutSpeechInErrors(() => addRows(tx, conversationId, rows));
  };
  await transcript.writeRows({
    add: (row, position) => {
      const speaker = attributions.get(parseSpeaker(row.peer).key);
      if (speaker === undefined) throw changed();
      const text = speaker.erased ? erasedText : row.sentence;
      batch.push({ startUs: row.startUs, position, endUs: row.endUs, personId: speaker.personId, text });
      characters += text.length;
    },
    pause: async () => {
      if (
        batch.length >= rowsPerBatch ||
        characters >= charactersPerBatch ||
        performance.now() - flushedAtMs > maxIdleMs
      )
        await flush();
    },
  });
  await flush();
  await replaceErasedPeople(tx, [conversationId]);
  const { stored } = await countRows(tx, { conversationId });
  if (stored !== transcript.accepted)
    throw new InstallRefused(`${stored} rows are stored, ${transcript.accepted} were accepted`, stored);
  const isChanged = before === null || (await digestTranscript(tx, { conversationId })).digest !== before;
  return { segments: stored, changed: isChanged };
}

async function addRows(tx: Tx, conversationId: number, rows: readonly NewRow[]): Promise<void> {
  await insertRows(tx, {
    conversationId,
    starts: rows.map((row) => row.startUs.toString()),
    positions: rows.map((row) => row.position),
    ends: rows.map((row) => row.endUs.toString()),
    personIds: rows.map((row) => row.personId),
    texts: rows.map((row) => row.text),
  });
}

function changed(): Error {
  return unavailable('the transcript changed while it was read');
}

/** Runs statements that contain speech, and removes it from their errors. */
async function withoutSpeechInErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (mayPass(error)) throw error;
    const state = sqlStateOf(error);
    throw new InstallRefused(state === undefined ? 'a fault' : `SQLSTATE ${state}`, null);
  }
}
