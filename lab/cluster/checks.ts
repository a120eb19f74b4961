/** Checks of the test in order; each leaves the release in the state that the next one needs. */
import { checkAccepted } from './accepted.ts';
import { checkDrain } from './drain.ts';
import { checkEvaluation } from './evaluation.ts';
import { checkLag } from './lag.ts';
import { checkLosses, checkPoolerLosses } from './losses.ts';
import { checkPolicies } from './policies.ts';
import { checkScaling } from './scaling.ts';
import {
  applyRelease,
  type Values,
  chosenUser,
  components,
  describeClosedNamespace,
  describeSecrets,
  listObjects,
  platformSelector,
  releaseName,
  releaseSelector,
  startServers,
  waitUntilRemoved,
  waitUntilReady,
} from './release.ts';
import { describeLoad, findKnown, startClient, underLoad, withStoredKeys, type Known } from './client.ts';
import { type Cluster, CommandError, kill, mustSucceed, until } from './commands.ts';
import { runDemo } from './demo.ts';
import { natsServers } from './nats-cluster.ts';
import { refusals } from './refusals.ts';

export interface Check {
  readonly title: string;
  /** Runs the check. @returns details to print, if any */
  run(cluster: Cluster): Promise<string | undefined>;
}

let known: Known | undefined;

/** Returns the data that the demo of an earlier run created, when a run starts at a later check. */
async function requireKnown(cluster: Cluster): Promise<Known> {
  return (known ??= await findKnown(cluster));
}

export const checks: readonly Check[] = [
  {
    title: 'a namespace that enforces Pod Security "restricted" takes PostgreSQL, NATS and the object store',
    run: async (cluster) => {
      await cluster.apply(...describeSecrets(), describeClosedNamespace());
      await startServers(cluster);
      return undefined;
    },
  },
  {
    title: 'every object of every value file in ci/ is taken by the API server, without a warning',
    run: checkAccepted,
  },
  {
    title: 'helm install, from nothing to ready, in a namespace that denies what no policy allows',
    run: async (cluster) => {
      await mustSucceed(applyRelease(cluster, 'install'));
      await waitUntilReady(cluster);
      return undefined;
    },
  },
  {
    title: 'every pod runs restricted, as a uid that the platform chose, on a file system that it cannot write',
    run: checkRestricted,
  },
  {
    title: 'helm test, with an account',
    run: async (cluster) => {
      await mustSucceed(cluster.helm(['test', releaseName, '--timeout', '3m']));
      const log = await cluster.kubectl(['logs', `${releaseName}-test`]);
      if (!log.includes('ok  an account logs in')) throw new Error(log);
      return `${log.split('\n').filter((line) => line.startsWith('ok')).length} steps`;
    },
  },
  {
    title: 'the admin CLI in the toolbox: doctor finds everything well',
    run: async (cluster) => {
      const output = await cluster.kubectl([
        'exec',
        `deploy/${releaseName}-toolbox`,
        '--',
        'node',
        'cli/main.ts',
        'doctor',
      ]);
      if (!/^ok\s+ffmpeg/m.test(output)) throw new Error(output);
      return `${output.split('\n').filter((line) => line.startsWith('ok')).length} findings`;
    },
  },
  {
    title: 'the demo through the service of the gateway',
    run: async (cluster) => {
      const last = await runDemo(cluster);
      await startClient(cluster);
      known = await findKnown(cluster);
      return last;
    },
  },
  {
    title: 'a pod of each component killed, one after the other: nothing acknowledged is lost, nothing done twice',
    run: async (cluster) =>
      withStoredKeys(cluster, await requireKnown(cluster), async () => {
        for (const component of components) {
          for (const { name } of await cluster.listPods(`${releaseSelector},app.kubernetes.io/component=${component}`))
            await kill(cluster, name);
          await waitUntilReady(cluster);
        }
      }),
  },
  {
    title:
      'all pods of the release killed at once, as when a node is lost: nothing acknowledged is lost, nothing done twice',
    run: async (cluster) =>
      withStoredKeys(cluster, await requireKnown(cluster), async () => {
        await Promise.all((await cluster.listPods(platformSelector)).map(({ name }) => kill(cluster, name)));
        await waitUntilReady(cluster);
      }),
  },
  {
    title:
      'each of the three NATS servers killed with its data, one after the other: nothing acknowledged is lost, nothing done twice',
    run: async (cluster) =>
      withStoredKeys(cluster, await requireKnown(cluster), async () => {
        for (let index = 0; index < natsServers; index += 1) {
          await kill(cluster, `servers-coherence-nats-${index}`);
          // A NATS server becomes ready when it has every message of the other servers.
          await cluster.kubectl(['rollout', 'status', 'statefulset/servers-coherence-nats', '--timeout=180s']);
        }
        await waitUntilReady(cluster);
      }),
  },
  {
    title: 'helm upgrade under load: no request fails',
    run: (cluster) => replaceUnderLoad(cluster, () => applyRelease(cluster, 'upgrade', changedSecrets())),
  },
  {
    title: 'helm rollback under load: no request fails',
    run: (cluster) => replaceUnderLoad(cluster, () => cluster.helm(['rollback', releaseName, '--timeout', '10m'])),
  },
  {
    title: 'scale from 1 to 3 and back to 1 under load: no request fails',
    run: async (cluster) => {
      const scale = async (replicas: number): Promise<void> => {
        await cluster.kubectl([
          'scale',
          `--replicas=${replicas}`,
          ...components.map((name) => `deployment/${releaseName}-${name}`),
        ]);
        await waitUntilReady(cluster, replicas);
        await waitUntilRemoved(cluster, replicas);
      };
      const summary = await underLoad(cluster, await requireKnown(cluster), async () => {
        await scale(3);
        await scale(1);
      });
      return describeLoad(summary);
    },
  },
  { title: 'a migration that fails stops the roll-out: the pods stay and serve', run: checkFailedMigration },
  {
    title: 'wrong values are refused with a message that says what to do',
    run: async (cluster) => {
      for (const { values, message } of refusals) {
        const { status, stderr } = await applyRelease(cluster, 'upgrade', values);
        if (status === 0 || !stderr.includes(message))
          throw new Error(`${JSON.stringify(values)} was answered with: ${stderr || 'nothing'}`);
      }
      return `${refusals.length} refusals`;
    },
  },
  {
    title:
      'NetworkPolicies: an unrelated pod reaches neither metrics nor media nor the gateway, components reach what they need alone',
    run: checkPolicies,
  },
  {
    title:
      'PodDisruptionBudgets: one pod of a component at a time is evicted, and no request fails while a node is drained',
    run: async (cluster) => checkDrain(cluster, await requireKnown(cluster)),
  },
  {
    title: 'a HorizontalPodAutoscaler takes the pods over from the values without stopping one, and scales under load',
    run: async (cluster) => checkScaling(cluster, await requireKnown(cluster)),
  },
  {
    title:
      'two pods of each service under load: each NATS server, the primary of PostgreSQL and a pod of each service are lost, nothing acknowledged is',
    run: async (cluster) => checkLosses(cluster, await requireKnown(cluster)),
  },
  {
    title: 'the same by way of PgBouncer: one, both, and the primary behind them are lost, nothing acknowledged is',
    run: async (cluster) => checkPoolerLosses(cluster, await requireKnown(cluster)),
  },
  { title: 'KEDA scales the workers of jobs by what waits for them', run: checkLag },
  { title: 'helm uninstall leaves what the README says, and an install after it finds its data', run: checkUninstall },
  {
    title:
      'the profile evaluation as one release: from nothing to ready, helm test, uninstall, and again with its data',
    run: checkEvaluation,
  },
];

/** Returns values that change the Secret, so that the next upgrade replaces every pod. */
const changedSecrets = (): Values => ({ secrets: { revision: new Date().toISOString() } });

async function replaceUnderLoad(cluster: Cluster, replace: () => ReturnType<typeof applyRelease>): Promise<string> {
  const before = new Set((await cluster.listPods(platformSelector)).map(({ uid }) => uid));
  const summary = await underLoad(cluster, await requireKnown(cluster), async () => {
    await mustSucceed(replace());
    await waitUntilReady(cluster);
    await waitUntilRemoved(cluster, 1);
  });
  const retained = (await cluster.listPods(platformSelector)).filter(({ uid }) => before.has(uid));
  if (retained.length > 0) throw new Error(`not replaced: ${retained.map(({ name }) => name).join(', ')}`);
  return describeLoad(summary);
}

async function checkRestricted(cluster: Cluster): Promise<undefined> {
  const root = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'unrestricted' },
    spec: { containers: [{ name: 'root', image: 'root' }] },
  };
  const refused = await cluster.apply(root).then(
    () => 'it was taken',
    (error: unknown) => (error instanceof CommandError ? error.message : String(error)),
  );
  if (!refused.includes('violates PodSecurity "restricted'))
    throw new Error(`a pod without a security context: ${refused}`);
  for (const name of components) {
    const program = `const fs = require('fs'); let written = 'yes'; try { fs.writeFileSync('/app/x', ''); } catch (error) { written = error.code; }
      fs.writeFileSync('/tmp/x', ''); console.log(process.getuid(), written);`;
    const output = await cluster.kubectl([
      'exec',
      `deploy/${releaseName}-${name}`,
      '-c',
      name,
      '--',
      'node',
      '--eval',
      program,
    ]);
    if (output.trim() !== `${chosenUser.runAsUser} EROFS`) throw new Error(`${name}: ${output}`);
  }
  return undefined;
}

async function checkFailedMigration(cluster: Cluster): Promise<string> {
  const before = await cluster.listPods(platformSelector);
  const wrong = {
    secrets: { revision: 'third', keys: { DATABASE_URL_ADMIN: 'DATABASE_URL_WRONG' } },
    migrations: { backoffLimit: 0, activeDeadlineSeconds: 60 },
  };
  const summary = await underLoad(cluster, await requireKnown(cluster), async () => {
    const { status, stderr } = await applyRelease(cluster, 'upgrade', wrong);
    if (status === 0) throw new Error('the upgrade succeeded');
    if (!/pre-upgrade hooks? failed/.test(stderr)) throw new Error(stderr);
  });
  const after = await cluster.listPods(platformSelector);
  const names = (pods: typeof before): string =>
    pods
      .map(({ uid }) => uid)
      .toSorted()
      .join(' ');
  if (names(before) !== names(after)) throw new Error('pods were replaced');
  const log = await cluster.kubectl(['logs', `job/${releaseName}-setup`, '-c', 'migrate']);
  if (!log.includes('password authentication failed'))
    throw new Error(`the Job's log does not say why: ${log.slice(0, 1_000)}`);
  await mustSucceed(applyRelease(cluster, 'upgrade', changedSecrets()));
  await waitUntilReady(cluster);
  return `${describeLoad(summary)}; mended, the upgrade goes through`;
}

async function checkUninstall(cluster: Cluster): Promise<string> {
  await mustSucceed(cluster.helm(['uninstall', releaseName, '--wait', '--timeout', '3m']));
  const expected = [`configmap/${releaseName}-test`, `pod/${releaseName}-test`].join(' ');
  await until('nothing else to be left', 60_000, async () => {
    const remaining = (await listObjects(cluster, releaseName)).join(' ');
    if (remaining !== expected) throw new Error(`left are ${remaining}`);
    return true;
  });
  await mustSucceed(applyRelease(cluster, 'install'));
  await waitUntilReady(cluster);
  const { conversationId } = await requireKnown(cluster);
  await findKnown(cluster).then((found) => {
    if (found.conversationId !== conversationId) throw new Error(`conversation ${conversationId} is not found again`);
  });
  return `left were ${expected.replace(' ', ', ')}`;
}
