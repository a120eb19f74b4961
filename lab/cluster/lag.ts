/**
 * Scales pods by queue length: KEDA reads the lag of a job worker's consumers from the broker and adds pods (values,
 * `autoscaling.type: keda`).
 */
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

const name = `${releaseName}-transcripts`;
const selector = `${releaseSelector},app.kubernetes.io/component=transcripts`;
const monitoring = 'nats-monitoring';
const [subject, consumer] = ['jobs.transcripts.transcript-import', 'transcripts_transcript-import'];
const lagThreshold = 2;
const most = 3;
const waiting = most * lagThreshold;
const settleMs = 180_000;
/** Seconds of load, longer than scaling up takes. */
const busySeconds = 60;

export async function checkLag(cluster: Cluster): Promise<string> {
  if (!(await callUrl(cluster, 'keda', () => servesLag(cluster))))
    return 'its objects are accepted; nothing here reads them';
  await cluster.apply(describeMonitoring());
  try {
    await mustSucceed(
      applyRelease(cluster, 'upgrade', scaledBy(`${monitoring}.${cluster.settings.namespace}.svc:8222`)),
    );
    await until(
      'KEDA to take the object',
      settleMs,
      async () => (await readConditions(cluster, 'scaledobject', name))['Ready'] === 'True',
    );
    await until('an empty queue to be read as 0', settleMs, async () => (await readLag(cluster)) === 0);
    await Promise.all([keepBusy(cluster), until('jobs under way to bring pods', settleMs, () => hasMost(cluster))]);
    await until('the end of these jobs to be read', settleMs, async () => (await readLag(cluster)) === 0);
  } finally {
    await mustSucceed(applyRelease(cluster, 'upgrade', {}, takeOver));
    await cluster.kubectl(['delete', 'service', monitoring]);
  }
  await waitUntilReady(cluster);
  await waitUntilRemoved(cluster, 1);
  return `${waiting} jobs that wait or are under way bring ${most} pods, ${lagThreshold} for each`;
}

const scaledBy = (natsMonitoringEndpoint: string): Values => ({
  components: {
    transcripts: {
      autoscaling: { type: 'keda', minReplicas: 1, maxReplicas: most, lagThreshold, natsMonitoringEndpoint },
    },
  },
});

/** Exposes the broker's monitoring port, which KEDA reads from another namespace. */
function describeMonitoring(): object {
  const labels = { 'app.kubernetes.io/instance': 'servers', 'app.kubernetes.io/component': 'nats' };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: monitoring },
    spec: { selector: labels, ports: [{ port: 8222 }] },
  };
}

async function servesLag(cluster: Cluster): Promise<boolean> {
  const answer = await cluster.kubectl(['get', '--raw', '/apis/external.metrics.k8s.io/v1beta1']).catch(() => '');
  return answer.includes('APIResourceList');
}

async function hasMost(cluster: Cluster): Promise<boolean> {
  return (await cluster.listPods(selector)).filter(({ ready }) => ready).length === most;
}

/** Returns the lag as the autoscaler computes it: the maximum over the worker's consumers. */
async function readLag(cluster: Cluster): Promise<number> {
  const { spec } = JSON.parse(
    await cluster.kubectl(['get', 'horizontalpodautoscaler', `keda-hpa-${name}`, '-o', 'json']),
  ) as {
    spec: { metrics: { external: { metric: { name: string } } }[] };
  };
  const values = spec.metrics.map(async ({ external }) => {
    const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${cluster.settings.namespace}/${external.metric.name}`;
    const answer = await cluster.kubectl([
      'get',
      '--raw',
      `${path}?labelSelector=scaledobject.keda.sh%2Fname%3D${name}`,
    ]);
    return Number((JSON.parse(answer) as { items: { value: string }[] }).items[0]?.value);
  });
  return Math.max(...(await Promise.all(values)));
}

/**
 * Runs an additional worker in the toolbox pod, which fetches as many messages as the real workers and processes them
 * slowly.
 */
async function keepBusy(cluster: Cluster): Promise<void> {
  const program = `
    import { setTimeout as sleep } from 'node:timers/promises';
    import { createLogger } from '#libs/infrastructure/logger';
    import { connectBus } from '#libs/infrastructure/nats';
    const logger = createLogger({ service: 'busy', level: 'warn' });
    const bus = await connectBus({ url: process.env.NATS_URL, name: 'busy', logger });
    let held = 0;
    await bus.consume({ stream: 'JOBS', durable: '${consumer}', filter: '${subject}', concurrency: ${waiting} }, async (delivery) => {
      held += 1;
      for (let seconds = 0; seconds < ${busySeconds}; seconds += 5) await sleep(5_000).then(() => delivery.working());
      delivery.term('no job');
    });
    // The real worker takes some of them and throws them away.
    for (let n = 0; held < ${waiting}; n += 1) {
      await bus.publishDurable('${subject}', 'no job', { msgId: 'busy-' + Date.now() + '-' + n });
      await sleep(50);
    }
    await sleep(${busySeconds} * 1_000);
    await bus.close();`;
  const command = ['node', '--input-type=module', '-'];
  await cluster.kubectl(['exec', '-i', `deploy/${releaseName}-toolbox`, '--', ...command], { input: program });
}
