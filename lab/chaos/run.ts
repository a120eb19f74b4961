/**
 * One run: starts servers and platform, runs the load, injects faults in sequence, waits until the platform is idle,
 * and checks the results.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../libs/product/testing/wait-for.ts';
import { checkHistory, type Problem } from './checker/check-history.ts';
import { faults, listTurns, noDisk, type Target } from './faults.ts';
import type { History } from './history.ts';
import { listKinds, startLoad } from './load.ts';
import { type ChaosPlatform, startChaosPlatform } from './platform.ts';
import { createRandom } from './random.ts';
import { type Row, summarize, type Turn } from './report.ts';
import { collectFacts, waitForRest } from './rest.ts';
import { startServers } from './servers.ts';
import { hasNameSpaces } from './small-disk.ts';

export interface RunOptions {
  /** Time in which new faults are started. Each fault is injected at least once, even after this time. */
  readonly seconds: number;
  readonly seed: number;
  readonly faults: readonly string[];
  /** Existing folder for the data of the servers. */
  readonly dir: string;
  readonly history: History;
  readonly log: (line: string) => void;
}

export interface Result {
  readonly rows: readonly Row[];
  readonly problems: readonly Problem[];
  readonly requests: number;
  readonly kinds: number;
}

/** Number of requests of each kind that must be answered before the first fault, so that all clients are active. */
const enough = 3;
/** Delay between two faults. */
const calmMs = 1_000;
/** Time limit for recovery, which is exceeded only if the platform fails to recover. */
const recoveryTimeoutMs = 240_000;

export async function run(options: RunOptions): Promise<Result> {
  const { history, dir, log } = options;
  const random = createRandom(options.seed);
  const servers = await startServers(dir, log);
  let chaos: ChaosPlatform | undefined;
  try {
    log('the servers are there; starting two processes of each service');
    chaos = await startChaosPlatform(servers, dir);
    const load = startLoad(chaos, history, random.fork('load'));
    const turns: Turn[] = [];
    try {
      await waitUntilAnswered(history, 0, enough);
      turns.push(...(await harm({ chaos, servers, random: random.fork('faults') }, options)));
    } finally {
      await load.stop();
    }
    log('waiting for rest');
    await waitForRest(chaos, servers);
    await load.readEverything();
    const problems = [
      ...checkHistory(history.entries, await collectFacts(chaos, servers)),
      ...listEnded(chaos),
      ...listHarmless(turns, log),
    ];
    const { entries } = history;
    return {
      rows: summarize(entries, turns, problems),
      problems,
      requests: entries.length,
      kinds: listKinds(entries).length,
    };
  } finally {
    await chaos?.stop();
    await servers.stop();
  }
}

async function harm(target: Target, { seconds, faults: names, history, log }: RunOptions): Promise<Turn[]> {
  const turns: Turn[] = [];
  if (names.length === 0) {
    await sleep(seconds * 1_000);
    return turns;
  }
  const until = history.now() + seconds * 1_000;
  for (const fault of listTurns(names, target.random)) {
    if (history.now() >= until && turns.length >= names.length) return turns;
    const from = history.now();
    const what = await (faults[fault] as (typeof faults)[string])(target);
    await waitUntilAnswered(history, history.now(), 1);
    turns.push({ fault, target: what, from, to: history.now() });
    log(`${fault} of ${what}: all is answered again after ${((history.now() - from) / 1000).toFixed(1)} s`);
    await sleep(calmMs);
  }
  return turns;
}

/** Resolves when this many requests of every kind sent after this time were answered. */
async function waitUntilAnswered({ entries }: History, after: number, count: number): Promise<void> {
  const done = new Map<string, number>();
  let seen = 0;
  const missing = (): string[] => {
    for (const { kind, outcome, from } of entries.slice(seen))
      if (outcome === 'done' && from >= after) done.set(kind, (done.get(kind) ?? 0) + 1);
    seen = entries.length;
    return allKinds.filter((kind) => (done.get(kind) ?? 0) < count);
  };
  await waitFor(
    () => (missing().length === 0 ? true : Promise.reject(new Error(`no answer to ${missing().join(', ')}`))),
    {
      timeoutMs: recoveryTimeoutMs,
      intervalMs: 50,
      what: 'answers of every kind',
    },
  );
}

const allKinds = [
  'GET conversation',
  'PATCH conversation',
  'find or create',
  'recorded',
  'GET room',
  'POST room',
  'upload',
  'download',
  'v1 update',
  'GET v1 holon',
  'v1 create',
  'booking webhook',
  'telegram webhook',
  'chat',
];

/**
 * Lists faults that had no effect and therefore prove nothing. Such a fault is a failure if the machine supports it,
 * and is otherwise only logged.
 */
function listHarmless(turns: readonly Turn[], log: (line: string) => void): Problem[] {
  const harmless = turns.filter(({ target }) => target === noDisk).map(({ fault }) => fault);
  if (harmless.length === 0) return [];
  const text = `WARNING: ${harmless.join(', ')} harmed ${noDisk}`;
  log(text);
  return hasNameSpaces() ? [{ what: 'wrong', text, entries: [] }] : [];
}

/** Lists processes that ended unexpectedly. */
function listEnded({ platform }: ChaosPlatform): Problem[] {
  return [...platform.processes]
    .filter(([, item]) => item.hasEnded)
    .map(([name, item]) => ({
      what: 'wrong',
      text: `${name} has ended by itself:\n${item.readLogTail()}`,
      entries: [],
    }));
}
