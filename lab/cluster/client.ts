/** Clients inside the cluster: k6 with a constant load, and one that records acknowledged writes (test/cluster). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoDir } from '../../tools/check/commands.ts';
import { type Cluster, until } from './commands.ts';
import { refer, serversImage } from './images.ts';
import { apiToken, bookingSecret, clientApp, containerSecurity, gatewayUrl, loginSecret, password } from './release.ts';

/** Data that the load reads, created by the demo. */
export interface Known {
  personId: number;
  listenerId: number;
  conversationId: number;
  sessionToken: string;
}

export interface LoadSummary {
  requests: number;
  failed: number;
  p95Ms: number;
  maxMs: number;
}

export const describeLoad = ({ requests, p95Ms, maxMs }: LoadSummary): string =>
  `${requests} requests, 0 failed, p95 ${p95Ms} ms, longest ${maxMs} ms`;

/** Output of `ledger.mjs write`. */
interface Written {
  attempts: number;
  refused: number;
  people: number;
  bookings: number;
  uploads: number;
}

const name = clientApp;
const scripts = ['steady.js', 'ledger.mjs'];

export async function startClient(cluster: Cluster): Promise<void> {
  const data = Object.fromEntries(
    scripts.map((file) => [file, readFileSync(join(repoDir, 'test', 'cluster', file), 'utf8')]),
  );
  const env = {
    BASE_URL: gatewayUrl,
    API_TOKEN: apiToken,
    API_LOGIN_SECRET: loginSecret,
    BOOKING_WEBHOOK_SECRET: bookingSecret,
    DEMO_PASSWORD: password,
    K6_NO_USAGE_REPORT: 'true',
    HOME: '/tmp',
  };
  await cluster.kubectl(['delete', 'pod', name, '--ignore-not-found']);
  await cluster.apply(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { app: name } },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name,
            image: refer(cluster.settings, serversImage),
            command: ['sleep', 'infinity'],
            env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
            securityContext: containerSecurity,
            volumeMounts: [
              { name: 'scripts', mountPath: '/scripts', readOnly: true },
              { name: 'tmp', mountPath: '/tmp' },
            ],
          },
        ],
        volumes: [
          { name: 'scripts', configMap: { name } },
          { name: 'tmp', emptyDir: {} },
        ],
      },
    },
  );
  await cluster.kubectl(['wait', '--for=condition=Ready', `pod/${name}`, '--timeout=120s']);
}

/** Runs a command in the pod. @returns its output */
export function execInClient(cluster: Cluster, command: readonly string[], timeoutMs?: number): Promise<string> {
  return cluster.kubectl(['exec', name, '--', ...command], timeoutMs === undefined ? {} : { timeoutMs });
}

export async function findKnown(cluster: Cluster): Promise<Known> {
  return JSON.parse(await execInClient(cluster, ['node', '/scripts/ledger.mjs', 'prepare'])) as Known;
}

/**
 * Runs a program in the client pod during `work`, then ends it. Only one program with this name may run at a time.
 * @returns its output
 */
async function runBeside(
  cluster: Cluster,
  called: string,
  program: readonly string[],
  work: () => Promise<void>,
): Promise<string> {
  const file = `/tmp/${called}.pid`;
  const ended = execInClient(cluster, ['sh', '-c', `echo $$ > ${file}; exec "$@"`, 'sh', ...program]).catch(
    (error: unknown) => error as Error,
  );
  await until(
    'the client to begin',
    30_000,
    async () => (await execInClient(cluster, ['sh', '-c', `cat ${file} 2>/dev/null || true`])).trim() !== '',
  );
  try {
    await work();
  } finally {
    await execInClient(cluster, ['sh', '-c', `kill -TERM $(cat ${file}); rm ${file}`]).catch(() => {});
  }
  const output = await ended;
  return output instanceof Error ? output.message : output;
}

/** k6 while `work` is done. @throws Error when a request failed. */
export async function underLoad(cluster: Cluster, known: Known, work: () => Promise<void>): Promise<LoadSummary> {
  const { summary, failures } = await measureLoad(cluster, known, work);
  if (summary.failed > 0)
    throw new Error(`${summary.failed} of ${summary.requests} requests failed:\n${failures.slice(0, 12).join('\n')}`);
  return summary;
}

/** k6 while `work` is done. @returns also its line for each request that failed. */
export async function measureLoad(
  cluster: Cluster,
  known: Known,
  work: () => Promise<void>,
): Promise<{ summary: LoadSummary; failures: string[] }> {
  const env = {
    SESSION_TOKEN: known.sessionToken,
    LISTENER_ID: known.listenerId,
    CONVERSATION_ID: known.conversationId,
    RATE: cluster.settings.rate,
  };
  const variables = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  const shell = 'k6 run --quiet --no-color /scripts/steady.js > /tmp/k6.out 2> /tmp/k6.err & wait $!';
  await runBeside(
    cluster,
    'k6',
    ['env', ...variables, 'sh', '-c', `trap 'kill -TERM $!; wait $!' TERM; ${shell}`],
    work,
  );
  const line = /SUMMARY (.*)/.exec(await execInClient(cluster, ['sh', '-c', 'cat /tmp/k6.out']))?.[1];
  const failures = (await execInClient(cluster, ['cat', '/tmp/k6.err'])).split('\n').filter((text) => text !== '');
  const summary = line === undefined ? undefined : (JSON.parse(line) as LoadSummary);
  if (summary === undefined || summary.requests === 0)
    throw new Error(`k6 made no summary:\n${failures.slice(0, 12).join('\n')}`);
  return { summary, failures };
}

/** Writes keys during `work`, then reads every acknowledged key. @throws Error if a key is lost or duplicated */
export async function withStoredKeys(cluster: Cluster, known: Known, work: () => Promise<void>): Promise<string> {
  const written = await runBeside(
    cluster,
    'ledger',
    ['node', '/scripts/ledger.mjs', 'write', JSON.stringify(known)],
    work,
  );
  const counts = parse(written) as Written;
  if (counts.people === 0 || counts.bookings === 0 || counts.uploads === 0)
    throw new Error(`too little was acknowledged: ${written}`);
  const { problems } = parse(await execInClient(cluster, ['node', '/scripts/ledger.mjs', 'verify'], 300_000)) as {
    problems: string[];
  };
  if (problems.length > 0) throw new Error(problems.slice(0, 10).join('\n'));
  return `${counts.people} people, ${counts.bookings} bookings, ${counts.uploads} uploads acknowledged and there; ${counts.refused} of ${counts.attempts} requests refused meanwhile`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the client failed: ${text.slice(0, 2_000)}`);
  }
}
