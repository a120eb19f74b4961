/** Two PgBouncer pods in transaction mode in front of PostgreSQL, as docs/operations.md describes. */
import type { Cluster } from './commands.ts';
import { refer, serversImage } from './images.ts';
import { postgresServer } from './postgres-pair.ts';
import { containerSecurity, owners, password, poolerApp, small } from './release.ts';

const name = poolerApp;
const port = 6432;
const replicas = 2;
export const poolerSelector = `app=${name}`;

export async function startPooler(cluster: Cluster): Promise<void> {
  const settings = {
    listen_addr: '*',
    listen_port: port,
    unix_socket_dir: '',
    pool_mode: 'transaction',
    auth_type: 'scram-sha-256',
    auth_file: '/etc/pgbouncer/users.txt',
    default_pool_size: 10,
    max_client_conn: 500,
    // Delay in seconds before PgBouncer connects again; the default is fifteen.
    server_login_retry: 1,
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
  const stringData = {
    'pgbouncer.ini': `[databases]\n* = host=${postgresServer} port=5432\n\n[pgbouncer]\n${lines.join('\n')}\n`,
    'users.txt': owners.map((owner) => `"coherence_${owner}" "${password}"\n`).join(''),
  };
  const labels = { app: name };
  await cluster.apply(
    { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData },
    { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { selector: labels, ports: [{ port }] } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            automountServiceAccountToken: false,
            securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
            containers: [
              {
                name,
                image: refer(cluster.settings, serversImage),
                command: ['pgbouncer', '/etc/pgbouncer/pgbouncer.ini'],
                ports: [{ containerPort: port }],
                readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
                resources: small,
                securityContext: containerSecurity,
                volumeMounts: [{ name: 'settings', mountPath: '/etc/pgbouncer', readOnly: true }],
              },
            ],
            volumes: [{ name: 'settings', secret: { secretName: name } }],
          },
        },
      },
    },
  );
  await untilPooled(cluster);
}

/** Waits until all pooler pods are ready. */
export async function untilPooled(cluster: Cluster): Promise<void> {
  await cluster.kubectl(['rollout', 'status', `deployment/${name}`, '--timeout=120s']);
}

export async function stopPooler(cluster: Cluster): Promise<void> {
  await cluster.kubectl(['delete', `deployment/${name}`, `service/${name}`, `secret/${name}`]);
}
