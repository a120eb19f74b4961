/**
 * `transcripts.rows.install-legacy`: installs the rows of a bulk import and replaces existing rows only where they
 * differ (rules/workspace#bulk-import; D7).
 */
import { listSome, recordAudit } from '#libs/infrastructure/audit';
import { AppError } from '#libs/infrastructure/errors';
import type { HandlersOf } from '#libs/infrastructure/nats';
import { mayPass, sqlStateOf, type Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import type { Dependencies } from '../dependencies.ts';
import { transcriptFeed } from '../evidence/contract.ts';
import { rowsChanged } from '../search/index.ts';
import type { legacyRpcs } from './contract.ts';
import { type LegacyTranscript, prepareLegacy } from './rules.ts';
import {
  clearTranscripts,
  insertRows,
  insertSpeakers,
  type LegacyState,
  listStates,
  lockConversations,
  saveDigests,
} from './statements.ts';
import { replaceErasedPeople } from '../person-data/index.ts';

export function createLegacyHandlers({
  db,
  jobs,
  eventOutbox,
}: Pick<Dependencies, 'db' | 'jobs' | 'eventOutbox'>): HandlersOf<typeof legacyRpcs> {
  return {
    installLegacy: async ({ items, dry_run: dryRun }, context) => {
      const requested = items.map((item) => prepareLegacy(item.conversation_id, item.rows));
      const ids = requested.map(({ conversationId }) => conversationId);
      if (dryRun) return { items: report(requested, await readStates(db, ids)) };
      const result = await db.transaction(async (tx) => {
        await lockConversations(tx, { ids });
        const states = await readStates(tx, ids);
        const changed = requested.filter((item) => decide(item, states) === 'installed');
        if (changed.length > 0) {
          const changedIds = changed.map((item) => item.conversationId);
          await withoutSpeechInErrors(() => installLegacy(tx, changed));
          await rowsChanged(jobs, tx, changedIds);
          for (const subject of changedIds) eventOutbox.add(tx, transcriptFeed.imported, { subject, data: {} });
          recordAudit(tx, context, { changes: listSome(changedIds, 'conversations') });
        }
        return report(requested, states);
      });
      return { items: result };
    },
  };
}

async function readStates(db: Queryable, ids: readonly number[]): Promise<Map<number, LegacyState>> {
  return new Map((await listStates(db, { ids })).map((row) => [row.id, row]));
}

/** Runs statements that contain speech, and removes it from their errors. */
async function withoutSpeechInErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const state = sqlStateOf(error);
    if (state === undefined || mayPass(error)) throw error;
    throw new AppError({ code: 'internal', message: `The rows could not be installed: SQLSTATE ${state}` });
  }
}

type Outcome = 'installed' | 'unchanged' | 'kept';

function decide({ conversationId, rows, sha256 }: LegacyTranscript, states: ReadonlyMap<number, LegacyState>): Outcome {
  const state = states.get(conversationId);
  if (state === undefined || state.is_forgotten || state.contract_import) return 'kept';
  if (state.sha256 === null) return rows.length === 0 ? 'unchanged' : 'installed';
  return state.sha256 === sha256 ? 'unchanged' : 'installed';
}

function report(requested: readonly LegacyTranscript[], states: ReadonlyMap<number, LegacyState>) {
  return requested.map((item) => ({ conversation_id: item.conversationId, outcome: decide(item, states) }));
}

const rowsPerStatement = 20_000;

/** Replaces the rows of these conversations. */
export async function installLegacy(tx: Tx, transcripts: readonly LegacyTranscript[]): Promise<void> {
  const ids = transcripts.map(({ conversationId }) => conversationId);
  const filled = transcripts.filter(({ rows }) => rows.length > 0).map(({ conversationId }) => conversationId);
  await clearTranscripts(tx, { ids, filledIds: filled });
  const rows = transcripts.flatMap(({ conversationId: id, rows: own }) => own.map((row) => ({ id, ...row })));
  for (let start = 0; start < rows.length; start += rowsPerStatement) {
    const part = rows.slice(start, start + rowsPerStatement);
    await insertRows(tx, {
      conversationIds: part.map((row) => row.id),
      starts: part.map((row) => row.startUs),
      positions: part.map((row) => row.position),
      ends: part.map((row) => row.endUs),
      personIds: part.map((row) => row.personId),
      texts: part.map((row) => row.text),
    });
  }
  const speakers = transcripts.flatMap(({ conversationId: id, speakers: own }) =>
    own.map((speaker) => ({ id, ...speaker })),
  );
  await insertSpeakers(tx, {
    conversationIds: speakers.map((speaker) => speaker.id),
    keys: speakers.map((speaker) => speaker.key),
    numbers: speakers.map((speaker) => speaker.number),
    personIds: speakers.map((speaker) => speaker.personId),
    displayNames: speakers.map((speaker) => speaker.displayName),
  });
  await replaceErasedPeople(tx, ids);
  await saveDigests(tx, { conversationIds: ids, digests: transcripts.map(({ sha256 }) => sha256) });
}
