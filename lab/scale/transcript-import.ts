/** Measures how much indexing slows down an import (T3): rounds with the indexing job, and with the job postponed. */
import { createLogger } from '#libs/infrastructure/logger';
import { connectBus, newContext } from '#libs/infrastructure/nats';
import { transcripts } from '#services/transcripts';
import type { Pool } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { emptyConversations, usualRowsPerConversation as rowsPerConversation, wordOf } from './transcript-sql.ts';

export interface ImportSpeed {
  /** Rows per second. */
  readonly withIndex: number;
  readonly withoutIndex: number;
  /** Seconds from the end of a round's import until all of its rows can be found. */
  readonly searchableSeconds: number;
}

const rounds = 8;
const conversationsPerRound = emptyConversations / (rounds + 2);
const jobType = transcripts.jobs.indexTranscripts.type;

export async function measureImport(options: {
  readonly settings: Readonly<Record<string, string>>;
  readonly pool: Pool;
  /** Id of the first conversation without a transcript. */
  readonly firstId: number;
  readonly log: (line: string) => void;
}): Promise<ImportSpeed> {
  const { settings, pool, firstId, log } = options;
  const logger = createLogger({ service: 'bench', level: 'warn' });
  const bus = await connectBus({
    url: settings['NATS_URL'] ?? '',
    name: 'cli',
    caller: 'cli',
    prefix: settings['NATS_SUBJECT_PREFIX'] ?? '',
    logger,
  });
  const { installLegacy } = transcripts.rpcs;
  const importRound = async (round: number): Promise<number> => {
    const startedAt = performance.now();
    for (let index = 0; index < conversationsPerRound; index++) {
      const id = firstId + round * conversationsPerRound + index;
      await bus.call(
        installLegacy,
        { items: [{ conversation_id: id, rows: makeRows(id) }], dry_run: false },
        newContext(),
      );
    }
    return (conversationsPerRound * rowsPerConversation) / ((performance.now() - startedAt) / 1_000);
  };
  const speeds = { true: [] as number[], false: [] as number[] };
  let waited = 0;
  try {
    await forgetImports(pool, firstId);
    for (let round = -2; round < rounds; round++) {
      const isIndexed = round % 2 === 0;
      log(`import, round ${round + 3} of ${rounds + 2}, ${isIndexed ? 'with' : 'without'} the index`);
      await putOff(pool, !isIndexed);
      const speed = await importRound(round + 2);
      const endedAt = performance.now();
      if (isIndexed) await waitForIndex(pool);
      // The first round with and the first without indexing are a warm-up.
      if (round < 0) continue;
      speeds[`${isIndexed}`].push(speed);
      if (isIndexed) waited = Math.max(waited, (performance.now() - endedAt) / 1_000);
    }
  } finally {
    await putOff(pool, false);
    await bus.close();
  }
  return { withIndex: median(speeds.true), withoutIndex: median(speeds.false), searchableSeconds: waited };
}

const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;

function makeRows(seed: number) {
  return Array.from({ length: rowsPerConversation }, (_, index) => ({
    start_ms: index * 4_000,
    end_ms: index * 4_000 + 3_500,
    person_id: 1 + (index % 3),
    speaker: null,
    text: Array.from({ length: 12 }, (_word, position) =>
      wordOf((seed * 31 + index * 7919 + position * 104_729) % 160_000),
    ).join(' '),
  }));
}

/** Deletes imports of an earlier run on the same data, which would otherwise not be imported again. */
async function forgetImports(pool: Pool, firstId: number): Promise<void> {
  for (const table of ['transcript_rows', 'search_segments', 'speakers', 'import_evidence', 'legacy_transcripts'])
    await pool.query(`delete from transcripts.${table} where conversation_id >= $1`, [firstId]);
}

/** Postpones new indexing jobs by a day, or stops postponing them. */
async function putOff(pool: Pool, expected: boolean): Promise<void> {
  await pool.query('drop trigger if exists put_off on transcripts.jobs');
  if (!expected) return;
  await pool.query(
    `create or replace function transcripts.put_off() returns trigger language plpgsql as $$ begin new.run_at := now() + interval '1 day'; return new; end $$`,
  );
  await pool.query(
    `create trigger put_off before insert on transcripts.jobs for each row when (new.type = '${jobType}') execute function transcripts.put_off()`,
  );
}

async function waitForIndex(pool: Pool): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(
      `select 1 from transcripts.jobs where type = '${jobType}' and state in ('queued', 'running') and run_at < now() + interval '1 hour' limit 1`,
    );
    if (rowCount === 0) return;
    await sleep(50);
  }
}
