/**
 * `npm run bench:scale`: fills two databases, a small and a large one, starts a platform on each, and measures the same requests on
 * both at the same time. Prints latencies with their ratio, and of conversations time and memory of a search that streams everything.
 *   --surface NAME    `conversations` (the default) or `v1`, the lists and searches of the open API
 *   --conversations N, --people N, --holons N   the large size; 1,000,000, 200,000 and 20,000 for conversations. For the open API 1,000,000
 *                     people and 100,000 holons, multiples of 1,000; memberships are three times, notes five times the people
 *   --small N         conversations of the small size (1,000), people and holons in proportion; for the open API people and holons
 *   --seconds N       length of one measurement (8)
 *   --connections N   requests under way (4)           --only TEXT,…  operations whose name contains a TEXT; `stream` is one
 *   --targets N       different things that the requests of an operation name, as far as both sizes have them (20; 10 for the open API)
 *   --data DIR        keeps the servers' data there and takes up what is there, so that a second run need not fill again
 * `npm run bench:scale -- seed` only fills the migrated, empty database of DATABASE_URL with the large size.
 */
import { parseArgs } from 'node:util';
import { resolve } from 'node:path';
import { startBenchServers, type BenchServers } from '../bench/servers.ts';
import { measureAnswers, measurePair, type Subject } from './latency.ts';
import { renderLatencies, renderMemory, renderStreams, type LatencyRow } from './report.ts';
import { fillDatabase } from './fill.ts';
import { startSide, type Side } from './side.ts';
import { leaveStream, streamEverything } from './stream.ts';
import { conversationSurface, networkSurface, type Surface } from './surfaces.ts';

const warmUpSeconds = 3;
const text = (value: string): { type: 'string'; default: string } => ({ type: 'string', default: value });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    surface: text('conversations'),
    conversations: text('1000000'),
    people: { type: 'string' },
    holons: { type: 'string' },
    small: text('1000'),
    seconds: text('8'),
    connections: text('4'),
    targets: text('20'),
    only: text(''),
    data: { type: 'string' },
  },
});
const startedAt = performance.now();
const say = (line: string): void => {
  process.stderr.write(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`);
};
const count = (name: 'conversations' | 'people' | 'holons' | 'small' | 'seconds' | 'connections' | 'targets', usual?: number): number => {
  const value = Number(values[name] ?? usual);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} is a whole number from 1`);
  return value;
};

const wanted = values.only.split(',');

const surface = chooseSurface(values.surface);

if (positionals[0] === 'seed') {
  await fillDatabase({ url: process.env['DATABASE_URL'] ?? '', seed: surface.seeds[1], say });
} else {
  const servers = await startBenchServers({ say, dataDir: values.data === undefined ? undefined : resolve(values.data) });
  try {
    await measureBoth(servers);
  } finally {
    say('stopping');
    await servers.stop();
  }
}

function chooseSurface(name: string): Surface {
  if (name === 'conversations') {
    const large = { conversations: count('conversations'), people: count('people', 200_000), holons: count('holons', 20_000) };
    return conversationSurface(large, count('small'));
  }
  if (name === 'v1') return networkSurface({ people: count('people', 1_000_000), holons: count('holons', 100_000) }, count('small'));
  throw new Error('--surface is conversations or v1');
}

async function measureBoth(servers: BenchServers): Promise<void> {
  const sides: Side[] = [];
  try {
    for (const index of [0, 1] as const) {
      sides.push(await startSide({ servers, name: surface.names[index], seed: surface.seeds[index], say }));
    }
    const [small, large] = sides;
    if (small === undefined || large === undefined) throw new Error('A side is missing');
    const [smallScenarios, largeScenarios] = await surface.readScenarios([small, large], count('targets'));
    const rows: LatencyRow[] = [];
    for (const [index, { name, request, grows = false }] of smallScenarios.entries()) {
      const other = largeScenarios[index];
      if (other?.name !== name) throw new Error('The sides measure different requests');
      if (!wanted.some((part) => name.includes(part))) continue;
      say(name);
      const measured = await measureLatency({ baseUrl: small.baseUrl, request }, { baseUrl: large.baseUrl, request: other.request });
      rows.push({ operation: name, grows, ...measured });
    }
    print(
      `${count('connections')} connections, ${count('seconds')} s an operation, ${count('targets')} targets; small ${surface.descriptions[0]}; large ${surface.descriptions[1]}`,
    );
    if (rows.length > 0) print(renderLatencies(rows));
    if (values.surface === 'conversations' && wanted.some((name) => 'stream'.includes(name))) await measureStreams(small, large);
  } finally {
    await Promise.all(sides.map((side) => side.stop()));
  }
}

async function measureLatency(smallSubject: Subject, largeSubject: Subject): Promise<Omit<LatencyRow, 'operation' | 'grows'>> {
  const subjects = [smallSubject, largeSubject] as const;
  const answers = [await measureAnswers(smallSubject, count('targets')), await measureAnswers(largeSubject, count('targets'))] as const;
  const connections = count('connections');
  await measurePair(subjects, { connections, seconds: warmUpSeconds });
  const [measuredSmall, measuredLarge] = await measurePair(subjects, { connections, seconds: count('seconds') });
  return { small: measuredSmall, large: measuredLarge, answers };
}

async function measureStreams(smallSide: Side, largeSide: Side): Promise<void> {
  say('search without a filter, on the small side');
  const smallStream = await streamEverything(smallSide.stream);
  say('search without a filter, on the large side');
  const largeStream = await streamEverything(largeSide.stream);
  say('search without a filter, whose reader leaves');
  const largeLeft = await leaveStream(largeSide.stream, largeSide.pool);
  print(renderStreams({ small: smallStream, large: { ...largeStream, leftMs: largeLeft } }));
  print(renderMemory(largeStream));
}

function print(block: string): void {
  process.stdout.write(`\n${block}\n`);
}
