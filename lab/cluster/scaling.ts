/** Scaling by load: a HorizontalPodAutoscaler takes over from `replicas` of the values, as UPGRADING.md describes. */
import { describeLoad, underLoad, type Known } from './client.ts';
import { callUrl, type Cluster, mustSucceed, readConditions, until } from './commands.ts';
import {
  applyRelease,
  releaseName,
  releaseSelector,
  takeOver,
  waitUntilRemoved,
  type Values,
  waitUntilReady,
} from './release.ts';

const name = `${releaseName}-gateway`;
const conditionsOf = (cluster: Cluster) => readConditions(cluster, 'horizontalpodautoscaler', name);
const gatewaySelector = `${releaseSelector},app.kubernetes.io/component=gateway`;
const before = 2;
const least = 3;
const most = 4;
const settleMs = 120_000;
const fixed: Values = { components: { gateway: { replicas: before } } };
const scaled: Values = {
  components: {
    gateway: {
      autoscaling: { type: 'hpa', minReplicas: least, maxReplicas: most, targetCPUUtilizationPercentage: 50 },
    },
  },
};

export async function checkScaling(cluster: Cluster, known: Known): Promise<string> {
  await mustSucceed(applyRelease(cluster, 'upgrade', fixed));
  await until('two pods of the gateway', settleMs, async () => (await listReady(cluster)).length === before);
  await handOver(cluster);
  await retainsPods(cluster, () => applyRelease(cluster, 'upgrade', scaled));
  await until('the least number of pods', settleMs, async () => (await listReady(cluster)).length === least);
  await until(
    'the autoscaler to be able to scale',
    settleMs,
    async () => (await conditionsOf(cluster))['AbleToScale'] === 'True',
  );
  const hasMetrics = await callUrl(cluster, 'metrics', async () => {
    const answer = await cluster.kubectl(['get', '--raw', '/apis/metrics.k8s.io/v1beta1/nodes']).catch(() => '');
    return answer.includes('NodeMetricsList');
  });
  let reported = `${before} pods kept, then at least ${least}`;
  if (hasMetrics) {
    const summary = await underLoad(cluster, known, () =>
      until('the load to bring one more', 300_000, async () => {
        const conditions = await conditionsOf(cluster);
        if (conditions['ScalingActive'] !== 'True') throw new Error(JSON.stringify(conditions));
        return (await listReady(cluster)).length === most;
      }),
    );
    reported += `, ${most} under load: ${describeLoad(summary)}`;
  } else {
    await until(
      'its status to say what is missing',
      settleMs,
      async () => (await conditionsOf(cluster))['ScalingActive'] === 'False',
    );
    reported += '; its status says that it has no metrics';
  }
  await retainsPods(cluster, () => applyRelease(cluster, 'upgrade', scaled));
  await mustSucceed(applyRelease(cluster, 'upgrade', {}, takeOver));
  await waitUntilReady(cluster);
  await waitUntilRemoved(cluster, 1);
  return reported;
}

/**
 * Makes another field manager own `replicas`, so that the number of pods does not change when helm releases the field.
 * See UPGRADING.md, "Switching autoscaling on".
 */
async function handOver(cluster: Cluster): Promise<void> {
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: { replicas: before } };
  await cluster.kubectl(['apply', '--server-side', '--field-manager=autoscaling', '-f', '-'], {
    input: JSON.stringify(deployment),
  });
}

/** Runs an upgrade. @throws Error if the upgrade stopped a pod of the gateway */
async function retainsPods(cluster: Cluster, upgrade: () => ReturnType<typeof applyRelease>): Promise<void> {
  const uids = await listReady(cluster);
  await mustSucceed(upgrade());
  const after = new Set(await listReady(cluster));
  const removed = uids.filter((uid) => !after.has(uid));
  if (removed.length > 0)
    throw new Error(`helm upgrade stopped ${removed.length} of ${uids.length} pods of the gateway`);
}

/** Returns the uids of the gateway's ready pods that are not terminating. */
async function listReady(cluster: Cluster): Promise<string[]> {
  return (await cluster.listPods(gatewaySelector)).filter(({ ready }) => ready).map(({ uid }) => uid);
}
