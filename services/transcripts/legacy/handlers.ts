/** `transcripts.rows.install-legacy`: rows of a bulk import, replaced only where they differ (rules/workspace#bulk-import; D7). */
import { listSome, recordAudit } from '#libs/audit';
import { AppError } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import type { Handler } from '#libs/nats';
import { mayPass, sqlStateOf, type Database } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import type { transcripts } from '../contract.ts';
import { transcriptFeed } from '../evidence/contract.ts';
import type { RowsChanged } from '../search/index.ts';
import { installLegacy } from './install.ts';
import { prepareLegacy, type LegacyTranscript } from './rules.ts';
import { type LegacyState, listStates, lockConversations } from './statements.ts';

/** No message holds speech: what the database says of a refused row never leaves as it is. */
export function createInstallLegacy({
  db,
  rowsChanged,
  eventOutbox,
}: {
  readonly db: Database;
  readonly eventOutbox: EventOutbox;
  readonly rowsChanged: RowsChanged;
}): Handler<typeof transcripts.rpcs.installLegacy> {
  return async ({ items, dry_run: dryRun }, context) => {
    const given = items.map((item) => prepareLegacy(item.conversation_id, item.rows));
    const ids = given.map(({ conversationId }) => conversationId);
    if (dryRun) return { items: report(given, await readStates(db, ids)) };
    const result = await db.transaction(async (tx) => {
      await lockConversations(tx, { ids });
      const states = await readStates(tx, ids);
      const changed = given.filter((item) => decide(item, states) === 'installed');
      if (changed.length > 0) {
        const changedIds = changed.map((item) => item.conversationId);
        await guard(() => installLegacy(tx, changed));
        await rowsChanged(tx, changedIds);
        for (const subject of changedIds) eventOutbox.add(tx, transcriptFeed.imported, { subject, data: {} });
        recordAudit(tx, context, { changes: listSome(changedIds, 'conversations') });
      }
      return report(given, states);
    });
    return { items: result };
  };
}

async function readStates(db: Queryable, ids: readonly number[]): Promise<Map<number, LegacyState>> {
  return new Map((await listStates(db, { ids })).map((row) => [row.id, row]));
}

/** Runs statements that carry speech; their errors leave without it. */
async function guard(work: () => Promise<void>): Promise<void> {
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

function report(given: readonly LegacyTranscript[], states: ReadonlyMap<number, LegacyState>) {
  return given.map((item) => ({ conversation_id: item.conversationId, outcome: decide(item, states) }));
}
