/** Voluntary disruptions: which evictions the disruption budgets allow. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeLoad, underLoad, type Known } from './client.ts';
import { callUrl, type Cluster, CommandError, mustSucceed, run, until } from './commands.ts';
import { applyRelease, components, platformSelector, takeOver, waitUntilRemoved, waitUntilReady } from './release.ts';

const replicas = 2;

interface Budget {
  metadata: { name: string };
  status?: { disruptionsAllowed: number };
}

interface Node {
  metadata: { name: string };
  spec: { unschedulable?: boolean; taints?: { effect: string }[] };
}

export async function checkDrain(cluster: Cluster, known: Known): Promise<string> {
  await mustSucceed(applyRelease(cluster, 'upgrade', { defaults: { replicas } }, takeOver));
  await waitUntilReady(cluster, replicas);
  await evictTwoOfEach(cluster);
  await waitUntilReady(cluster, replicas);
  await waitUntilRemoved(cluster, replicas);
  const canDrain = await callUrl(cluster, 'nodes', async () => {
    const answer = await cluster.kubectl(['auth', 'can-i', 'patch', 'nodes']).catch(() => 'no');
    return answer.includes('yes');
  });
  let reported = `of two evictions of each component at once one is refused`;
  if (canDrain) {
    let drained = '';
    const summary = await underLoad(cluster, known, async () => {
      drained = await drain(cluster);
    });
    reported += `; ${drained}: ${describeLoad(summary)}`;
  }
  await mustSucceed(applyRelease(cluster, 'upgrade'));
  await waitUntilReady(cluster);
  await waitUntilRemoved(cluster, 1);
  return reported;
}

/** @throws Error if a budget allows evicting both pods of a component at once, or none */
async function evictTwoOfEach(cluster: Cluster): Promise<void> {
  await until('every budget to allow one eviction', 60_000, async () => {
    const { items } = JSON.parse(await cluster.kubectl(['get', 'poddisruptionbudgets', '-o', 'json'])) as {
      items: Budget[];
    };
    const wrong = items.filter(({ status }) => status?.disruptionsAllowed !== 1).map(({ metadata }) => metadata.name);
    if (wrong.length > 0 || items.length !== components.length)
      throw new Error(`${items.length} budgets, not ready: ${wrong.join(', ')}`);
    return true;
  });
  const pods = await cluster.listPods(platformSelector);
  for (const component of components) {
    const answers = await Promise.all(
      pods.filter((pod) => pod.component === component).map(({ name }) => evict(cluster, name)),
    );
    const words = answers.toSorted().join(', ');
    if (words !== 'refused, taken') throw new Error(`two evictions of ${component} were ${words}`);
  }
}

async function evict(cluster: Cluster, name: string): Promise<'taken' | 'refused'> {
  const { namespace } = cluster.settings;
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  try {
    await cluster.kubectl(['create', '--raw', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, '-f', '-'], {
      input: JSON.stringify(eviction),
    });
    return 'taken';
  } catch (error) {
    if (error instanceof CommandError && error.message.includes('disruption budget')) return 'refused';
    throw error;
  }
}

/** Evicts only the release's pods from a node. @returns a description of the result */
async function drain(cluster: Cluster): Promise<string> {
  const before = await cluster.listPods(platformSelector);
  const [node = '', ...moreNodes] = await listNodes(cluster);
  const onNode = new Set(
    (
      await cluster.kubectl([
        'get',
        'pods',
        '--selector',
        platformSelector,
        '--field-selector',
        `spec.nodeName=${node}`,
        '-o',
        'name',
      ])
    )
      .trim()
      .split('\n')
      .map((name) => name.replace('pod/', '')),
  );
  const args = [
    'drain',
    node,
    `--pod-selector=${platformSelector}`,
    '--ignore-daemonsets',
    '--delete-emptydir-data',
    '--timeout=300s',
  ];
  const ended = run([...cluster.settings.kubectl, ...args]);
  let isOver = false;
  const watched = watchLeastReady(cluster, () => isOver);
  try {
    // Pods of the only node cannot move: evicted pods are scheduled there again at once, while the drain continues.
    if (moreNodes.length === 0) {
      await until('the node to be cordoned', 30_000, async () => (await listNodes(cluster)).length === 0);
      await cluster.kubectl(['uncordon', node]);
    }
    await mustSucceed(ended);
    await waitUntilReady(cluster, replicas);
    await waitUntilRemoved(cluster, replicas);
  } finally {
    isOver = true;
    await cluster.kubectl(['uncordon', node]);
  }
  const least = await watched;
  const uids = new Set((await cluster.listPods(platformSelector)).map(({ uid }) => uid));
  const retained = before.filter(({ name, uid }) => onNode.has(name) && uids.has(uid));
  if (retained.length > 0) throw new Error(`not drained: ${retained.map(({ name }) => name).join(', ')}`);
  if (least < replicas - 1) throw new Error('a component had no pod ready');
  return `${onNode.size} pods drained from ${moreNodes.length === 0 ? 'the only node' : `one of ${moreNodes.length + 1} nodes`}`;
}

/** Returns the minimum number of ready pods per component, measured until `isOver` returns true. */
async function watchLeastReady(cluster: Cluster, isOver: () => boolean): Promise<number> {
  let least = replicas;
  while (!isOver()) {
    const pods = (await cluster.listPods(platformSelector)).filter(({ ready }) => ready);
    for (const component of components)
      least = Math.min(least, pods.filter((pod) => pod.component === component).length);
    await sleep(1_000);
  }
  return least;
}

/** Returns the names of the schedulable nodes. The node with most pods of the release is first. */
async function listNodes(cluster: Cluster): Promise<string[]> {
  const { items } = JSON.parse(await cluster.kubectl(['get', 'nodes', '-o', 'json'])) as { items: Node[] };
  const open = items.filter(
    ({ spec }) =>
      spec.unschedulable !== true && !(spec.taints ?? []).some(({ effect }) => effect !== 'PreferNoSchedule'),
  );
  const path = '{range .items[*]}{.spec.nodeName}{"\\n"}{end}';
  const used = (await cluster.kubectl(['get', 'pods', '--selector', platformSelector, '-o', `jsonpath=${path}`])).split(
    '\n',
  );
  const count = (name: string): number => used.filter((node) => node === name).length;
  return open.map(({ metadata }) => metadata.name).toSorted((a, b) => count(b) - count(a));
}
