/**
 * Loses each server and one pod of each service under load, with two pods of each: measures which requests fail and for
 * how long, and verifies that no acknowledged write is lost.
 */
import { execInClient, measureLoad, withStoredKeys, type Known } from './client.ts';
import { callUrl, type Cluster, kill, mustSucceed, until } from './commands.ts';
import { natsServers } from './nats-cluster.ts';
import { poolerSelector, startPooler, stopPooler, untilPooled } from './pooler.ts';
import { findPrimary, makeSynchronous, promoteStandby } from './postgres-pair.ts';
import {
  applyRelease,
  components,
  listPooledKeys,
  releaseSelector,
  takeOver,
  waitUntilRemoved,
  type Values,
  waitUntilReady,
} from './release.ts';

const replicas = 2;
const nats = 'servers-coherence-nats';
const stream = 'JOBS';

interface Loss {
  readonly title: string;
  /** Maximum time from the first to the last failed request. */
  readonly failsForMs: number;
  /** Causes the loss, then waits until everything has recovered. */
  lose(): Promise<void>;
}

/** Results of k6 and the client. */
interface Row {
  readonly title: string;
  readonly requests: number;
  readonly failures: ReadonlyMap<string, number>;
  readonly failedForMs: number;
  readonly maxMs: number;
  readonly acknowledged: string;
}

/** Tests with direct connections to PostgreSQL: every service has the addresses of both servers. */
export async function checkLosses(cluster: Cluster, known: Known): Promise<string> {
  if (!(await hasCapacity(cluster, {}))) return 'not shown';
  const rows = await loseEach(cluster, known, [
    ...(await listNats(cluster)).map(({ server, leads }) => ({
      title: `${server}${leads ? `, the leader of ${stream}` : ''}`,
      failsForMs: 15_000,
      lose: () => loseNats(cluster, server),
    })),
    { title: 'the primary of PostgreSQL, the standby promoted', failsForMs: 45_000, lose: () => losePrimary(cluster) },
    ...components.map((component) => ({
      title: `a pod of ${component}`,
      failsForMs: 10_000,
      lose: () => losePod(cluster, component),
    })),
  ]);
  await mustSucceed(applyRelease(cluster, 'upgrade', {}, takeOver));
  await waitUntilReady(cluster);
  await waitUntilRemoved(cluster, 1);
  return rows;
}

/** Tests with connections through PgBouncer, which follows the Service of the primary. */
export async function checkPoolerLosses(cluster: Cluster, known: Known): Promise<string> {
  await startPooler(cluster);
  if (
    !(await hasCapacity(cluster, { settings: { DATABASE_POOLER: 'transaction' }, secrets: { keys: listPooledKeys() } }))
  )
    return 'not shown';
  const rows = await loseEach(cluster, known, [
    { title: 'a pod of PgBouncer', failsForMs: 10_000, lose: () => losePoolers(cluster, 1) },
    { title: 'both pods of PgBouncer', failsForMs: 30_000, lose: () => losePoolers(cluster, 2) },
    {
      title: 'the primary of PostgreSQL behind PgBouncer, the standby promoted',
      failsForMs: 45_000,
      lose: () => losePrimary(cluster),
    },
  ]);
  await mustSucceed(applyRelease(cluster, 'upgrade', {}, takeOver));
  await waitUntilReady(cluster);
  await waitUntilRemoved(cluster, 1);
  await stopPooler(cluster);
  return rows;
}

/**
 * Scales to two pods of each service with these values. @returns false if the cluster need not have the capacity for
 * them
 */
function hasCapacity(cluster: Cluster, values: Values): Promise<boolean> {
  return callUrl(cluster, 'room', async () => {
    await mustSucceed(applyRelease(cluster, 'upgrade', { ...values, defaults: { replicas } }, takeOver));
    const pending = [
      'get',
      'pods',
      '--field-selector',
      'status.phase=Pending',
      '-o',
      'jsonpath={.items[*].status.conditions[*].reason}',
    ];
    if ((await cluster.kubectl(pending)).includes('Unschedulable')) return false;
    await waitUntilReady(cluster, replicas);
    await waitUntilRemoved(cluster, replicas);
    return true;
  });
}

/** @returns a table. @throws Error with the table if an acknowledged write is lost or requests fail for too long */
async function loseEach(cluster: Cluster, known: Known, losses: readonly Loss[]): Promise<string> {
  const rows: Row[] = [];
  const wrong: string[] = [];
  for (const { title, failsForMs, lose } of losses) {
    const row = await measure(cluster, known, title, lose).catch((error: unknown) => {
      throw new Error(`${title}: ${error instanceof Error ? error.message : String(error)}\n${describeRows(rows)}`);
    });
    rows.push(row);
    if (row.failedForMs > failsForMs)
      wrong.push(`${title}: requests fail for ${row.failedForMs} ms, not ${failsForMs} at most`);
  }
  if (wrong.length > 0) throw new Error(`${wrong.join('\n')}\n${describeRows(rows)}`);
  return describeRows(rows);
}

async function measure(cluster: Cluster, known: Known, title: string, lose: () => Promise<void>): Promise<Row> {
  let load: Awaited<ReturnType<typeof measureLoad>> | undefined;
  const acknowledged = await withStoredKeys(cluster, known, async () => {
    load = await measureLoad(cluster, known, lose);
  });
  if (load === undefined) throw new Error('there was no load');
  const { summary } = load;
  // k6 also says there that it was ended.
  const failures = load.failures.filter((line) => statusPattern.test(line));
  const times = failures.flatMap((line) => {
    const at = Date.parse(/time="([^"]+)"/.exec(line)?.[1] ?? '');
    return Number.isNaN(at) ? [] : [at];
  });
  return {
    title,
    requests: summary.requests,
    failures: countBy(failures.map(describeKind)),
    failedForMs: times.length === 0 ? 0 : Math.max(...times) - Math.min(...times),
    maxMs: summary.maxMs,
    acknowledged,
  };
}

/** Matches a failed request in the log of `test/cluster/steady.js`; status 0 = no answer. */
const statusPattern = /msg="?\w+: (\d+)/;

/** Returns the status of a failed request, e.g. `503`, or the reason why k6 received no answer. */
function describeKind(line: string): string {
  const status = statusPattern.exec(line)?.[1];
  return status === undefined || status === '0' ? 'no answer' : status;
}

function countBy(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function describeRows(rows: readonly Row[]): string {
  const head =
    '| lost | requests | failed | for | longest | acknowledged, and there |\n| --- | --- | --- | --- | --- | --- |';
  const lines = rows.map(({ title, requests, failures, failedForMs, maxMs, acknowledged }) => {
    const failed = [...failures].map(([kind, count]) => `${count} × ${kind}`).join(', ') || '0';
    return `| ${title} | ${requests} | ${failed} | ${(failedForMs / 1_000).toFixed(1)} s | ${(maxMs / 1_000).toFixed(1)} s | ${acknowledged} |`;
  });
  return `\n${[head, ...lines].join('\n')}`;
}

async function losePod(cluster: Cluster, component: string): Promise<void> {
  const [pod] = await cluster.listPods(`${releaseSelector},app.kubernetes.io/component=${component}`);
  if (pod === undefined) throw new Error(`there is no pod of ${component}`);
  await kill(cluster, pod.name);
  await waitUntilReady(cluster, replicas);
}

async function loseNats(cluster: Cluster, server: string): Promise<void> {
  await kill(cluster, server);
  // A NATS server becomes ready when it has every message of the other servers.
  await cluster.kubectl(['rollout', 'status', `statefulset/${nats}`, '--timeout=180s']);
  await waitUntilReady(cluster, replicas);
}

/** Deletes the primary together with its data. Its replacement follows the standby that was promoted. */
async function losePrimary(cluster: Cluster): Promise<void> {
  await kill(cluster, await findPrimary(cluster));
  await makeSynchronous(cluster, await promoteStandby(cluster));
  await waitUntilReady(cluster, replicas);
}

async function losePoolers(cluster: Cluster, count: number): Promise<void> {
  const pods = await cluster.listPods(poolerSelector);
  await Promise.all(pods.slice(0, count).map(({ name }) => kill(cluster, name)));
  await until(
    'as many pods as before',
    60_000,
    async () => (await cluster.listPods(poolerSelector)).length === pods.length,
  );
  await untilPooled(cluster);
  await waitUntilReady(cluster, replicas);
}

/** Returns the NATS servers; the leader of the job stream is first. */
async function listNats(cluster: Cluster): Promise<{ server: string; leads: boolean }[]> {
  const program = `const answer = await fetch('http://${nats}-0.${nats}-peers:8222/jsz?streams=true');
    const { account_details: accounts } = await answer.json();
    console.log(accounts.flatMap(({ stream_detail: streams }) => streams).find(({ name }) => name === '${stream}').cluster.leader);`;
  const leader = (await execInClient(cluster, ['node', '--input-type=module', '--eval', program])).trim();
  const servers = Array.from({ length: natsServers }, (_, position) => ({
    server: `${nats}-${position}`,
    leads: `${nats}-${position}` === leader,
  }));
  if (!servers.some(({ leads }) => leads)) throw new Error(`the leader of ${stream} is "${leader}"`);
  return servers.toSorted((one, other) => Number(other.leads) - Number(one.leads));
}
