/**
 * Runs `npm run demo` in a pod, which also provides the simulated meeting provider and language model to the release.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoDir } from '../../tools/check/commands.ts';
import { type Cluster, until } from './commands.ts';
import { platformImage, refer } from './images.ts';
import {
  apiToken,
  bookingSecret,
  containerSecurity,
  forwarder,
  gatewayUrl,
  loginSecret,
  modelPort,
  othersApp,
  outerPorts,
  password,
  providerPort,
  providerToken,
  secretName,
} from './release.ts';

const name = othersApp;
/** Folders that the image does not contain: the demo, and the simulated third-party servers. */
const folders = ['tools/demo', 'libs/product/testing'];

/** Runs the demo. @returns the last line of its output. @throws Error with the end of its output */
export async function runDemo(cluster: Cluster): Promise<string> {
  const { settings } = cluster;
  const configMaps = folders.map((folder) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: nameOf(folder) },
    data: Object.fromEntries(
      readdirSync(join(repoDir, folder))
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
        .map((file) => [file, readFileSync(join(repoDir, folder, file), 'utf8')]),
    ),
  }));
  await cluster.kubectl(['delete', 'pod', name, '--ignore-not-found', '--grace-period=1']);
  await cluster.apply(...configMaps, describeService(), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'demo',
          image: refer(settings, platformImage),
          // Node must not resolve symbolic links, which the files of a ConfigMap are.
          command: ['node', '--preserve-symlinks', '--preserve-symlinks-main', 'tools/demo/main.ts'],
          env: describeEnv(),
          securityContext: containerSecurity,
          volumeMounts: [
            ...folders.map((folder) => ({ name: nameOf(folder), mountPath: `/app/${folder}` })),
            { name: 'tmp', mountPath: '/tmp' },
          ],
        },
        ...Object.entries(outerPorts).map(([inner, outer]) =>
          forwarder(settings, `port-${inner}`, `0.0.0.0:${outer}`, `127.0.0.1:${inner}`),
        ),
      ],
      volumes: [
        ...folders.map((folder) => ({ name: nameOf(folder), configMap: { name: nameOf(folder) } })),
        { name: 'tmp', emptyDir: {} },
      ],
    },
  });
  let end: { exitCode: number } | undefined;
  const path = '{.status.containerStatuses[?(@.name=="demo")].state.terminated}';
  await until('the demo to end', 240_000, async () => {
    const text = await cluster.kubectl(['get', 'pod', name, '-o', `jsonpath=${path}`]);
    if (text !== '') end = JSON.parse(text) as { exitCode: number };
    return end !== undefined;
  });
  const output = await cluster.kubectl(['logs', name, '-c', 'demo']);
  if (end?.exitCode !== 0) throw new Error(output.slice(-2_500));
  return output.trim().split('\n').at(-1) ?? '';
}

function nameOf(folder: string): string {
  return folder.replace('/', '-');
}

function describeService(): object {
  const ports = Object.entries(outerPorts).map(([inner, outer]) => ({
    name: `port-${inner}`,
    port: Number(inner),
    targetPort: outer,
  }));
  // The pod is no longer ready after the demo has ended, but its simulated servers are still used.
  const spec = { selector: { app: name }, ports, publishNotReadyAddresses: true };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec };
}

function describeEnv(): object[] {
  const plain = {
    DEMO_BASE_URL: gatewayUrl,
    DEMO_PROVIDER_PORT: String(providerPort),
    DEMO_MODEL_PORT: String(modelPort),
    REALTIMEKIT_API_TOKEN: providerToken,
    LLM_API_KEY: 'demo',
    API_TOKEN: apiToken,
    API_LOGIN_SECRET: loginSecret,
    BOOKING_WEBHOOK_SECRET: bookingSecret,
    DEMO_PASSWORD: password,
  };
  return [
    ...Object.entries(plain).map(([key, value]) => ({ name: key, value })),
    { name: 'NATS_URL', valueFrom: { secretKeyRef: { name: secretName, key: 'NATS_URL_CLI' } } },
  ];
}
