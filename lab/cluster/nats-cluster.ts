/**
 * Replaces the profile's single NATS server with a cluster of three, as docs/operations.md describes: each with its
 * name, routes and data.
 */

export interface ServerObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [key: string]: unknown };
  readonly spec?: Record<string, unknown>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

export const natsServers = 3;
const clusterPort = 6222;

/** Returns the objects of the profile `evaluation` with a NATS cluster; all other objects are unchanged. */
export function clusterNats(objects: readonly ServerObject[], fullname: string): object[] {
  const name = `${fullname}-nats`;
  const peers = `${name}-peers`;
  const changed = objects.map((item) => {
    if (item.kind === 'Secret') return withRoutes(item, name, peers);
    return item.kind === 'StatefulSet' && item.metadata.name === name ? withServers(item, peers) : item;
  });
  const service = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name);
  const headless = {
    ...service,
    metadata: { ...service?.metadata, name: peers },
    // Publishes addresses of servers that are not ready, since servers must find each other before they become ready.
    spec: {
      ...service?.spec,
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      ports: [{ name: 'cluster', port: clusterPort }],
    },
  };
  return [...changed, headless];
}

function withRoutes(secret: ServerObject, name: string, peers: string): object {
  const routes = Array.from(
    { length: natsServers },
    (_, node) => `"nats-route://${name}-${node}.${peers}:${clusterPort}"`,
  );
  const cluster = `
server_name: $POD_NAME
cluster { name: coherence, listen: "0.0.0.0:${clusterPort}", ping_interval: "1s", routes: [${routes.join(', ')}] }
`;
  return {
    ...secret,
    stringData: { ...secret.stringData, 'nats.conf': `${secret.stringData?.['nats.conf'] ?? ''}${cluster}` },
  };
}

function withServers(set: ServerObject, serviceName: string): object {
  const { template, ...spec } = set.spec as {
    template: { metadata: object; spec: { containers: { env?: object[] }[] } };
  };
  const podName = { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };
  const containers = template.spec.containers.map((container) => ({
    ...container,
    env: [...(container.env ?? []), podName],
  }));
  return {
    ...set,
    // Starts all servers in parallel: a single server never becomes ready, because it waits for a peer.
    spec: {
      ...spec,
      serviceName,
      replicas: natsServers,
      podManagementPolicy: 'Parallel',
      template: { ...template, spec: { ...template.spec, containers } },
    },
  };
}
