/**
 * `npm run bench:scale`: fills a small and a large database, starts a platform on each, and measures the same requests
 * on both concurrently. Prints latencies with their ratio, and for conversations the time and memory of a search that
 * streams everything.
 * - `--surface NAME`: `conversations` (default); `v1`: lists and searches of the open API; `ops`: operator lists and
 * the redrive of ten thousand jobs; `transcripts`: transcript search in one database, with p95 and the import rate
 * during indexing
 * - `--rows N`: utterances of `transcripts` (10,000,000)
 * - `--conversations N`, `--people N`, `--holons N`: the large size. For conversations 1,000,000, 200,000 and 20,000;
 * for the open API 1,000,000 people and 100,000 holons, multiples of 1,000, with three times as many memberships and
 * five times as many notes as people
 * - `--jobs N`, `--receipts N`: the large size of `ops`, 1,000,000 each; the small size has ten times `--small`
 * - `--small N`: conversations of the small size (1,000), with people and holons in proportion; for the open API people
 * and holons
 * - `--seconds N`: length of one measurement (8)
 * - `--connections N`: concurrent requests (4)
 * - `--only TEXT,…`: only operations whose name contains a TEXT; `stream` is one of them
 * - `--targets N`: distinct objects used by the requests of an operation, limited to what both sizes have (20; 10 for
 * the open API)
 * - `--data DIR`: stores the servers' data in DIR and reuses existing data, so that a second run need not fill again
 *
 * `npm run bench:scale -- seed` only fills the migrated, empty database of DATABASE_URL with the large size.
 */
import { parseArgs } from 'node:util';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBenchServers, type BenchServers } from '../bench/servers.ts';
import { measureActs } from './acts.ts';
import { measureAnswers, measurePair, type Subject } from './latency.ts';
import {
  renderActs,
  renderLatencies,
  renderMemory,
  renderScans,
  renderStreams,
  renderTails,
  type LatencyRow,
} from './report.ts';
import { fillDatabase } from './fill.ts';
import { startSide, type Side } from './side.ts';
import { closeStream, streamEverything } from './stream.ts';
import { measureTranscriptSearch } from './transcript-search.ts';
import { transcriptSeed, usualRowsPerConversation } from './transcript-sql.ts';
import { conversationSurface, networkSurface, operatorSurface, type Surface } from './surfaces.ts';

const longestWarmUpSeconds = 3;
const text = (value: string): { type: 'string'; default: string } => ({ type: 'string', default: value });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    surface: text('conversations'),
    conversations: text('1000000'),
    people: { type: 'string' },
    holons: { type: 'string' },
    rows: text('10000000'),
    jobs: text('1000000'),
    receipts: text('1000000'),
    small: text('1000'),
    seconds: text('8'),
    connections: text('4'),
    targets: text('20'),
    only: text(''),
    data: { type: 'string' },
  },
});
const startedAt = performance.now();
const log = (line: string): void => {
  process.stderr.write(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`);
};
const count = (
  name:
    | 'conversations'
    | 'jobs'
    | 'receipts'
    | 'people'
    | 'holons'
    | 'rows'
    | 'small'
    | 'seconds'
    | 'connections'
    | 'targets',
  usual?: number,
): number => {
  const value = Number(values[name] ?? usual);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} is a whole number from 1`);
  return value;
};

const selected = values.only.split(',');

const surface = values.surface === 'transcripts' ? undefined : chooseSurface(values.surface);

if (positionals[0] === 'seed') {
  const seed =
    surface === undefined
      ? transcriptSeed({ rows: count('rows'), rowsPerConversation: usualRowsPerConversation })
      : surface.seeds[1];
  await fillDatabase({ url: process.env['DATABASE_URL'] ?? '', seed, log });
} else {
  const servers = await startBenchServers({
    log,
    dataDir: values.data === undefined ? undefined : resolve(values.data),
  });
  try {
    await (surface === undefined ? measureTranscripts(servers) : measureBoth(servers, surface));
  } finally {
    log('stopping');
    await servers.stop();
  }
}

function chooseSurface(name: string): Surface {
  if (name === 'conversations') {
    const large = {
      conversations: count('conversations'),
      people: count('people', 200_000),
      holons: count('holons', 20_000),
    };
    return conversationSurface(large, count('small'));
  }
  if (name === 'v1')
    return networkSurface({ people: count('people', 1_000_000), holons: count('holons', 100_000) }, count('small'));
  if (name === 'ops') return operatorSurface({ jobs: count('jobs'), receipts: count('receipts') }, count('small'));
  throw new Error('--surface is conversations, v1, ops or transcripts');
}

async function measureTranscripts(servers: BenchServers): Promise<void> {
  const [rows, seconds, connections, targets] = [
    count('rows'),
    count('seconds'),
    count('connections'),
    count('targets'),
  ];
  await measureTranscriptSearch(servers, {
    rows,
    seconds,
    connections,
    targets,
    selected: (name) => selected.some((part) => name.includes(part)),
    log,
    print,
  });
}

async function measureBoth(
  servers: BenchServers,
  { names, seeds, descriptions, readScenarios, group, promise, acts = [] }: Surface,
): Promise<void> {
  const sides: Side[] = [];
  try {
    for (const index of [0, 1] as const) {
      sides.push(await startSide({ servers, name: names[index], seed: seeds[index], group, log }));
    }
    const [small, large] = sides;
    if (small === undefined || large === undefined) throw new Error('A side is missing');
    const [smallScenarios, largeScenarios] = await readScenarios([small, large], count('targets'));
    const rows: LatencyRow[] = [];
    const scannedBefore = await countScans(large, promise?.unscanned ?? []);
    for (const [index, { name, request, grows = false }] of smallScenarios.entries()) {
      const other = largeScenarios[index];
      if (other?.name !== name) throw new Error('The sides measure different requests');
      if (!selected.some((part) => name.includes(part))) continue;
      log(name);
      const measured = await measureLatency(
        { baseUrl: small.baseUrl, request },
        { baseUrl: large.baseUrl, request: other.request },
      );
      rows.push({ operation: name, grows, ...measured });
    }
    print(
      `${count('connections')} connections, ${count('seconds')} s an operation, ${count('targets')} targets; small ${descriptions[0]}; large ${descriptions[1]}`,
    );
    if (rows.length > 0) print(promise === undefined ? renderLatencies(rows) : renderTails(rows, promise.p95Ms));
    const scanned = await countScans(large, promise?.unscanned ?? []);
    if (scanned.size > 0) print(renderScans(scannedBefore, scanned));
    const selectedActs = acts.filter(({ name }) => selected.some((part) => name.includes(part)));
    if (promise !== undefined && selectedActs.length > 0)
      print(renderActs(await measureActs(large.baseUrl, large.tokens.user, selectedActs, log), promise.actSeconds));
    if (values.surface === 'conversations' && selected.some((name) => 'stream'.includes(name)))
      await measureStreams(small, large);
  } finally {
    await Promise.all(sides.map((side) => side.stop()));
  }
}

/** Returns the number of sequential scans so far for each table that must not be scanned. */
async function countScans({ pool }: Side, tables: readonly string[]): Promise<Map<string, number>> {
  if (tables.length === 0) return new Map();
  await sleep(2_000); // processes report their scans with a delay
  const { rows } = await pool.query<{ name: string; scans: string }>(
    `select schemaname || '.' || relname as name, seq_scan as scans from pg_stat_user_tables where schemaname || '.' || relname = any($1) order by 1`,
    [tables],
  );
  return new Map(rows.map(({ name, scans }) => [name, Number(scans)]));
}

async function measureLatency(
  smallSubject: Subject,
  largeSubject: Subject,
): Promise<Omit<LatencyRow, 'operation' | 'grows'>> {
  const subjects = [smallSubject, largeSubject] as const;
  const answers = [
    await measureAnswers(smallSubject, count('targets')),
    await measureAnswers(largeSubject, count('targets')),
  ] as const;
  const connections = count('connections');
  await measurePair(subjects, { connections, seconds: Math.min(longestWarmUpSeconds, count('seconds') / 2) });
  const [measuredSmall, measuredLarge] = await measurePair(subjects, { connections, seconds: count('seconds') });
  return { small: measuredSmall, large: measuredLarge, answers };
}

async function measureStreams(smallSide: Side, largeSide: Side): Promise<void> {
  log('search without a filter, on the small side');
  const smallStream = await streamEverything(smallSide.stream);
  log('search without a filter, on the large side');
  const largeStream = await streamEverything(largeSide.stream);
  log('search without a filter, whose reader leaves');
  const largeStillFilled = await closeStream(largeSide.stream, largeSide.pool);
  print(renderStreams({ small: smallStream, large: { ...largeStream, remainingMs: largeStillFilled } }));
  print(renderMemory(largeStream));
}

function print(block: string): void {
  process.stdout.write(`\n${block}\n`);
}
