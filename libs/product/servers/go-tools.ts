/** The servers and tools that no npm package contains, with their pinned versions. */
import type { GoTool } from './go-tool.ts';

/** Alternatives when a tool of the chart's tests is missing. */
const skipHelmTests = [
  'run the other tiers alone: npm test -- --selectProjects unit integration e2e',
  'see CONTRIBUTING.md for what the tests of the chart need',
];

/** Alternatives when a tool of the dashboards and alerts is missing; tests do not need these tools. */
const skipMonitoringTools = [
  'make the pictures or try the alerts on another machine, see docs/operations.md',
  'leave them as they are: neither npm start nor npm test needs them',
];

export const natsServerTool: GoTool = {
  name: 'nats-server',
  module: 'github.com/nats-io/nats-server/v2',
  version: 'v2.15.2',
  buildSeconds: 50,
  isGoodEnough: (text) => isAtLeast(/v(\d+)\.(\d+)\.(\d+)/.exec(text), [2, 14, 4]),
  waysOut: [
    'install it: nats-server 2.14.4 or later on the PATH (https://github.com/nats-io/nats-server/releases), or Go 1.26 to build it',
    'set NATS_URL to a running NATS server with JetStream and max_payload of 8 MiB',
    'use the compose file: docker compose up',
  ],
};

/** The object store (docs/adr/bundled-object-store.md). */
export const versitygwTool: GoTool = {
  name: 'versitygw',
  module: 'github.com/versity/versitygw/cmd/versitygw',
  version: 'v1.8.0',
  versionVariable: 'main.Version',
  buildSeconds: 70,
  isGoodEnough: (text) => isAtLeast(/Version *: *v?(\d+)\.(\d+)\.(\d+)/.exec(text), [1, 8, 0]),
  waysOut: [
    'install it: versitygw 1.8 or later on the PATH (https://github.com/versity/versitygw/releases)',
    'set S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY (and S3_BUCKET) to a running S3-compatible store',
    'use the compose file: docker compose up',
  ],
};

/** An alternative object store, for tests of our object store client. */
export const minioTool: GoTool = {
  name: 'minio',
  forTests: true,
  module: 'github.com/minio/minio',
  version: 'v0.0.0-20260212201848-7aac2a2c5b7c',
  buildSeconds: 240,
  isGoodEnough: (text) =>
    isAtLeast(/RELEASE\.(\d{4})-(\d{2})-(\d{2})/.exec(text), [2024, 1, 1]) || text.includes('DEVELOPMENT'),
  waysOut: [
    'install it: minio of 2024 or later on the PATH, or Go 1.26 to build it',
    'set S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY (and S3_BUCKET) to a running S3-compatible store',
    'use the compose file: docker compose up',
  ],
};

export const helmTool: GoTool = {
  name: 'helm',
  forTests: true,
  module: 'helm.sh/helm/v4/cmd/helm',
  version: 'v4.3.1',
  versionArgs: ['version', '--short'],
  buildSeconds: 170,
  isGoodEnough: (text) => isAtLeast(/v(\d+)\.(\d+)\.(\d+)/.exec(text), [4, 0, 0]),
  waysOut: [
    'install it: helm 4 on the PATH (https://helm.sh/docs/intro/install), or Go 1.26 to build it',
    ...skipHelmTests,
  ],
};

export const kubeconformTool: GoTool = {
  name: 'kubeconform',
  forTests: true,
  module: 'github.com/yannh/kubeconform/cmd/kubeconform',
  version: 'v0.8.0',
  versionArgs: ['-v'],
  buildSeconds: 5,
  isGoodEnough: (text) => isAtLeast(/v(\d+)\.(\d+)\.(\d+)/.exec(text), [0, 6, 0]),
  waysOut: ['install it: kubeconform on the PATH, or Go 1.26 to build it', ...skipHelmTests],
};

export const k6Tool: GoTool = {
  name: 'k6',
  module: 'go.k6.io/k6',
  version: 'v1.8.1',
  versionArgs: ['version'],
  buildSeconds: 95,
  isGoodEnough: (text) => isAtLeast(/v(\d+)\.(\d+)\.(\d+)/.exec(text), [1, 0, 0]),
  waysOut: [
    'install it: k6 1.0 or later on the PATH (https://grafana.com/docs/k6/latest/set-up/install-k6), or Go 1.26 to build it',
    'run the scripts in test/load on another machine, see the README there',
    'run the other tiers alone: npm test -- --selectProjects unit integration helm e2e',
  ],
};

/**
 * Prometheus for alerts and screenshots of the dashboards only, so it is built without web UI and service discovery.
 */
const monitoringTool = {
  version: 'v0.315.0',
  required: { tags: 'remove_all_sd' },
  buildSeconds: 240,
  isGoodEnough: (text: string) => isAtLeast(/version (\d+)\.(\d+)\./.exec(text), [3, 0]),
};

export const prometheusTool: GoTool = {
  ...monitoringTool,
  name: 'prometheus',
  module: 'github.com/prometheus/prometheus/cmd/prometheus',
  waysOut: [
    'install it: prometheus 3 on the PATH (https://prometheus.io/download), or Go 1.26 to build it',
    ...skipMonitoringTools,
  ],
};

export const promtoolTool: GoTool = {
  ...monitoringTool,
  name: 'promtool',
  module: 'github.com/prometheus/prometheus/cmd/promtool',
  waysOut: [
    'install it: promtool 3 on the PATH (https://prometheus.io/download), or Go 1.26 to build it',
    ...skipMonitoringTools,
  ],
};

/** Returns whether a version is at least `minimum`; the groups of `match` are the numbers of the version. */
function isAtLeast(match: RegExpExecArray | null, minimum: readonly number[]): boolean {
  if (match === null) return false;
  for (const [index, least] of minimum.entries()) {
    const part = Number(match[index + 1]);
    if (part !== least) return part > least;
  }
  return true;
}
