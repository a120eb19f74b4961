/** `--surface transcripts`: transcript search in one large database (T3). */
import { type Measurement, quantile, runLoad } from '../bench/load.ts';
import type { BenchServers } from '../bench/servers.ts';
import { renderTable } from './report.ts';
import { startSide } from './side.ts';
import { measureImport } from './transcript-import.ts';
import { readTranscriptTargets, transcriptScenarios } from './transcript-scenarios.ts';
import { type TranscriptSizes, transcriptSeed, transcriptCount, usualRowsPerConversation } from './transcript-sql.ts';

const latencyGoalMs = 150;
const importGoal = 0.8;
const warmUpSeconds = 2;

export async function measureTranscriptSearch(
  servers: BenchServers,
  options: {
    readonly rows: number;
    readonly seconds: number;
    readonly connections: number;
    readonly targets: number;
    readonly selected: (name: string) => boolean;
    readonly log: (line: string) => void;
    readonly print: (block: string) => void;
  },
): Promise<void> {
  const { rows, seconds, connections, log, print } = options;
  const sizes: TranscriptSizes = { rows, rowsPerConversation: usualRowsPerConversation };
  const side = await startSide({ servers, name: 'transcripts', seed: transcriptSeed(sizes), log });
  try {
    const targets = await readTranscriptTargets(side.pool, options.targets);
    const lines: string[][] = [];
    for (const { name, request } of await transcriptScenarios(
      side.baseUrl,
      { all: side.tokens.superuser, own: side.tokens.user },
      targets,
    )) {
      if (!options.selected(name)) continue;
      const load = { baseUrl: side.baseUrl, connections, makeRequest: request };
      await runLoad({ ...load, seconds: warmUpSeconds });
      const line = renderLine(name, await runLoad({ ...load, seconds }));
      log(line.join('  '));
      lines.push(line);
    }
    print(
      `${rows} utterances in ${transcriptCount(sizes)} conversations; ${connections} connections, ${seconds} s a question, ${options.targets} targets; ${await readSizes(side.pool)}`,
    );
    print(renderTable(['question', 'p50 ms', 'p95 ms', 'p99 ms', `p95 < ${latencyGoalMs}`], lines));
    if (!options.selected('import')) return;
    const speed = await measureImport({
      settings: side.settings,
      pool: side.pool,
      firstId: transcriptCount(sizes) + 1,
      log,
    });
    const ratio = speed.withIndex / speed.withoutIndex;
    const cells = [
      speed.withIndex.toFixed(0),
      speed.withoutIndex.toFixed(0),
      ratio.toFixed(2),
      ratio >= importGoal ? 'yes' : 'NO',
    ];
    print(
      renderTable(
        ['import, rows/s', 'without the index', 'ratio', `≥ ${importGoal}`, 'all found after, s'],
        [[...cells, speed.searchableSeconds.toFixed(1)]],
      ),
    );
  } finally {
    await side.stop();
  }
}

function renderLine(name: string, measured: Measurement): string[] {
  const [p50, p95, p99] = [quantile(measured, 0.5), quantile(measured, 0.95), quantile(measured, 0.99)];
  return [name, ...[p50, p95, p99].map((ms) => ms.toFixed(1)), p95 < latencyGoalMs ? 'yes' : 'NO'];
}

async function readSizes(pool: {
  query: (sql: string) => Promise<{ rows: Record<string, string>[] }>;
}): Promise<string> {
  const { rows } = await pool.query(
    `select pg_size_pretty(pg_total_relation_size('transcripts.transcript_rows')) as rows, pg_size_pretty(pg_table_size('transcripts.search_segments')) as words,
       pg_size_pretty(pg_relation_size('transcripts.search_segments__words__index')) as index`,
  );
  const [sizes] = rows;
  return `rows ${sizes?.['rows']}, words ${sizes?.['words']}, their index ${sizes?.['index']}`;
}
