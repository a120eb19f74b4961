/** Describes the release under test: addresses of its servers, values, and helm commands. */
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { generateActorKeys } from '#libs/infrastructure/actor';
import { repoDir } from '../../tools/check/commands.ts';
import { type Cluster, type Ended, until } from './commands.ts';
import { platformImage, refer, serversImage } from './images.ts';
import { clusterNats, natsServers, type ServerObject } from './nats-cluster.ts';
import { makeSynchronous, pairPostgres, postgresHosts, postgresPods, postgresServer } from './postgres-pair.ts';
import type { ClusterSettings } from './settings.ts';

export const chartDir = join(repoDir, 'deploy', 'helm', 'coherence');
export const releaseName = 'coherence';
export const components = [
  'agents',
  'conversations',
  'directory',
  'events',
  'gateway',
  'media',
  'transcripts',
] as const;
export const releaseSelector = `app.kubernetes.io/instance=${releaseName}`;
/** Selects the pods of the platform, without pods of Jobs. */
export const platformSelector = `${releaseSelector},app.kubernetes.io/component in (${components.join(',')})`;
export const gatewayUrl = `http://${releaseName}-gateway`;
export const password = 'password-of-the-cluster-test';
export const secretName = 'platform-settings';
export const accountSecretName = 'test-account';
export const apiToken = 'token-of-the-cluster-test';
export const loginSecret = 'login-key-of-the-cluster-test';
const actorKeys = generateActorKeys();
export const bookingSecret = 'cluster-test-booking-secret';
export const providerToken = 'cluster-test-provider';
/** Ports of third-party servers, which the demo simulates. */
export const providerPort = 8790;
export const modelPort = 8791;
/**
 * Port on the demo pod's loopback address, where the demo listens → port on the pod's address, which is forwarded to
 * it.
 */
export const outerPorts = { [providerPort]: 18_790, [modelPort]: 18_791 };
/** `app` labels of the pods outside the release: clients and simulated third-party servers. */
export const clientApp = 'client';
export const othersApp = 'others';
export const poolerApp = 'pgbouncer';

export type Values = Record<string, unknown>;

/** See UPGRADING.md, "Replicas changed outside Helm": needed after kubectl scale or an autoscaler. */
export const takeOver = ['--force-conflicts'];

export const owners = ['agents', 'conversations', 'directory', 'events', 'media', 'transcripts'];
const readyTimeoutMs = 300_000;

/**
 * Returns the Secret that a platform team would create: an address for each component, and tokens. `DATABASE_URL_WRONG`
 * is used by the upgrade that must fail.
 */
export function describeSecrets(): object[] {
  const straight = (user: string, word = password): string =>
    `postgresql://${user}:${word}@${postgresServer}:5432/coherence`;
  const toEither = (user: string): string =>
    `postgresql://${user}:${password}@${postgresHosts}/coherence?target_session_attrs=read-write`;
  const pooled = (user: string): string => `postgresql://${user}:${password}@${poolerApp}:6432/coherence`;
  const nats = (user: string): string => `nats://${user}:${password}@servers-coherence-nats:4222`;
  const stringData: Record<string, string> = {
    DATABASE_URL_ADMIN: straight('coherence'),
    DATABASE_URL_WRONG: straight('coherence', 'another-password'),
    DATABASE_URL_AUDIT: straight('coherence_audit'),
    NATS_URL_ADMIN: nats('admin'),
    NATS_URL_CLI: nats('cli'),
    NATS_URL_GATEWAY: nats('api-gateway'),
    S3_ACCESS_KEY_ID: 'coherence',
    S3_SECRET_ACCESS_KEY: password,
    ACTOR_SIGNING_KEY: actorKeys.signingKey,
    ACTOR_PUBLIC_KEY: actorKeys.publicKey,
    API_TOKEN: apiToken,
    API_LOGIN_SECRET: loginSecret,
    BOOKING_WEBHOOK_SECRET: bookingSecret,
    REALTIMEKIT_API_TOKEN: providerToken,
    LLM_API_KEY: 'demo',
    DEMO_PASSWORD: password,
  };
  for (const name of owners) {
    stringData[keyOf(name)] = toEither(`coherence_${name}`);
    stringData[pooledKeyOf(name)] = pooled(`coherence_${name}`);
    stringData[`NATS_URL_${name.toUpperCase()}`] = nats(name);
  }
  const secret = (name: string, data: Record<string, string>): object => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    stringData: data,
  });
  return [secret(secretName, stringData), secret(accountSecretName, { email: 'ada@example.org', password })];
}

const keyOf = (owner: string): string => `DATABASE_URL_${owner.toUpperCase()}`;
const pooledKeyOf = (owner: string): string => `${keyOf(owner)}_POOLED`;

/** Returns values of `secrets.keys` that make the services connect to the pooler. */
export const listPooledKeys = (): Record<string, string> =>
  Object.fromEntries(owners.map((owner) => [keyOf(owner), pooledKeyOf(owner)]));

/** An arbitrary uid, as some platforms assign; differs from the image's uid. */
export const chosenUser = { runAsUser: 123_456, runAsGroup: 0 };

/** Resources per component, small enough for two releases on any node. */
export const small = { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '768Mi' } };

/** Returns values with one replica of everything. */
export function describeValues(settings: ClusterSettings): Values {
  return {
    global: { imageRegistry: settings.registry },
    image: platformImage,
    podSecurityContext: chosenUser,
    secrets: { existingSecret: secretName, revision: 'first' },
    settings: {
      S3_ENDPOINT: 'http://servers-coherence-object-store:7070',
      REALTIMEKIT_BASE_URL: `http://127.0.0.1:${providerPort}`,
      LLM_BASE_URL: `http://127.0.0.1:${modelPort}/v1`,
      LLM_MODEL: 'demo',
      RATE_LIMIT_LOGIN_PER_MINUTE: 0,
    },
    streams: { replicas: natsServers },
    defaults: { replicas: 1, resources: small },
    components: {
      gateway: { resources: small },
      conversations: { resources: small },
      directory: { resources: small },
      media: { resources: small, extraContainers: [describeForwarder(settings, 'provider', providerPort)] },
      transcripts: { resources: small, extraContainers: [describeForwarder(settings, 'provider', providerPort)] },
      agents: { resources: small, extraContainers: [describeForwarder(settings, 'model', modelPort)] },
    },
    toolbox: { enabled: true },
    workspace: { demo: true },
    tests: { existingSecret: accountSecretName },
    networkPolicy: describePeers(),
  };
}

/** Returns all network peers of the release. */
function describePeers(): Values {
  const app = (name: string): object => ({ podSelector: { matchLabels: { app: name } } });
  const server = (name: string): object => ({ podSelector: { matchLabels: { 'app.kubernetes.io/component': name } } });
  return {
    gatewayFrom: [app(clientApp), app(othersApp)],
    metricsFrom: [app(othersApp)],
    egress: {
      postgresql: { to: [server('postgresql'), app(poolerApp)], ports: [5432, 6432] },
      nats: { to: [server('nats')] },
      objectStore: { to: [server('object-store')] },
      outbound: { to: [app(othersApp)], ports: Object.values(outerPorts) },
    },
  };
}

/** Returns a network policy that denies all traffic except what the release's policies allow, as platform teams do. */
export function describeClosedNamespace(): object {
  const podSelector = { matchLabels: { 'app.kubernetes.io/instance': releaseName } };
  const spec = { podSelector, policyTypes: ['Ingress', 'Egress'] };
  return { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'closed' }, spec };
}

/** Returns a container that forwards a loopback port of the release's pod to the simulated server of the demo's pod. */
function describeForwarder(settings: ClusterSettings, name: string, port: number): object {
  return forwarder(settings, `played-${name}`, `127.0.0.1:${port}`, `${othersApp}:${port}`);
}

/** Returns a container that forwards TCP connections. */
export function forwarder(settings: ClusterSettings, name: string, from: string, to: string): object {
  const [host, port] = from.split(':');
  const [toHost, toPort] = to.split(':');
  const program =
    `const net = require('node:net');` +
    `net.createServer((a) => { const b = net.connect(${toPort}, '${toHost}'); const end = () => { a.destroy(); b.destroy(); };` +
    `a.on('error', end); b.on('error', end); a.pipe(b).pipe(a); }).listen(${port}, '${host}');` +
    `process.once('SIGTERM', () => process.exit());`;
  return {
    name,
    image: refer(settings, platformImage),
    command: ['node', '--eval', program],
    securityContext: containerSecurity,
    resources: { requests: { cpu: '5m', memory: '32Mi' } },
  };
}

export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** Runs `helm install` or `helm upgrade`; `values` override the values of the test. */
export function applyRelease(
  cluster: Cluster,
  action: 'install' | 'upgrade',
  values: Values = {},
  args: readonly string[] = [],
): Promise<Ended> {
  const files = ['-f', '-'];
  const input = JSON.stringify(mergeValues(describeValues(cluster.settings), values));
  return cluster.helm([action, releaseName, chartDir, '--timeout', '10m', ...files, ...args], { input });
}

export function mergeValues(base: Values, over: Values): Values {
  const result: Values = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const before = result[key];
    result[key] = isValues(before) && isValues(value) ? mergeValues(before, value) : value;
  }
  return result;
}

function isValues(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Waits until every workload has exactly `replicas` ready pods, all of its newest template. */
export async function waitUntilReady(cluster: Cluster, replicas = 1): Promise<void> {
  for (const name of components) {
    await cluster.kubectl([
      'rollout',
      'status',
      `deployment/${releaseName}-${name}`,
      `--timeout=${readyTimeoutMs / 1_000}s`,
    ]);
  }
  await until(`${replicas} ready pods of each component`, readyTimeoutMs, async () => {
    const pods = await cluster.listPods(platformSelector);
    return pods.length === replicas * components.length && pods.every(({ ready }) => ready);
  });
}

/** Waits until terminating pods are removed and their last requests have ended. */
export async function waitUntilRemoved(cluster: Cluster, replicas: number): Promise<void> {
  await until('the old pods to be gone', 120_000, async () => {
    const names = await cluster.kubectl(['get', 'pods', '--selector', platformSelector, '-o', 'name']);
    return names.trim().split('\n').length === replicas * components.length;
  });
}

/** Returns the names of a release's objects, without finished Jobs, which are removed automatically. */
export async function listObjects(cluster: Cluster, release: string): Promise<string[]> {
  const kinds = 'all,configmaps,secrets,serviceaccounts,networkpolicies,poddisruptionbudgets,persistentvolumeclaims';
  const names = await cluster.kubectl([
    'get',
    kinds,
    '--selector',
    `app.kubernetes.io/instance=${release}`,
    '-o',
    'name',
  ]);
  return names
    .trim()
    .split('\n')
    .filter((name) => name !== '' && !/^(job\.batch|pod)\/.*-(setup|workspace)(-|$)/.test(name))
    .toSorted();
}

/** Secrets that the profile `evaluation` requires from the installer. */
export const evaluationSecrets: Values = {
  evaluation: { password },
  secrets: { values: { ACTOR_SIGNING_KEY: actorKeys.signingKey, ACTOR_PUBLIC_KEY: actorKeys.publicKey } },
};

/** Returns values below `evaluation` that replace public images with the servers' image. */
export function describeServerImages(): Values {
  const own = (command: string) => ({ image: serversImage, command: [command] });
  return { postgresql: own('start-postgresql'), nats: own('nats-server'), objectStore: own('versitygw') };
}

/**
 * Starts PostgreSQL, three NATS servers with the users of the contracts, and the object store, rendered from the
 * profile `evaluation`, outside the release.
 */
export async function startServers(cluster: Cluster): Promise<void> {
  const { settings } = cluster;
  const values = {
    profiles: 'evaluation',
    global: { imageRegistry: settings.registry },
    evaluation: { ...describeServerImages(), persistence: { enabled: false } },
  };
  const rendered = await cluster.helm(
    ['template', 'servers', chartDir, '--show-only', 'templates/evaluation.yaml', '-f', '-'],
    {
      input: JSON.stringify(mergeValues(evaluationSecrets, values)),
    },
  );
  if (rendered.status !== 0) throw new Error(rendered.stderr);
  const objects = parseAllDocuments(rendered.stdout).flatMap(
    (document) => (document.toJS() ?? []) as ServerObject[] | ServerObject,
  );
  await cluster.apply(...clusterNats(pairPostgres(objects, settings), 'servers-coherence'));
  for (const name of ['postgresql', 'nats', 'object-store']) {
    await cluster.kubectl(['rollout', 'status', `statefulset/servers-coherence-${name}`, '--timeout=180s']);
  }
  await makeSynchronous(cluster, postgresPods[0]);
}
