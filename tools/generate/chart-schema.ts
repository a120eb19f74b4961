/**
 * Generates `values.schema.json` of the chart. The schema is strict for the chart's own keys, and open where a value is
 * passed to Kubernetes. Names of settings and secrets are read from the services' schemas, so that a misspelled name is
 * rejected before installation.
 */
import { type PlatformFacts, readPlatformFacts } from './chart.ts';
import { maxReplicas, streamNames } from '#libs/infrastructure/nats';
import { secretKeyOf } from '../../libs/product/servers/service-accounts.ts';
import { fewestBytes } from '../streams.ts';

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const count: Schema = { type: 'integer', minimum: 0 };
const port: Schema = { type: 'integer', minimum: 1, maximum: 65_535 };
const textMap: Schema = { type: 'object', additionalProperties: text };
/** An object that is passed unchanged to Kubernetes, which validates it. */
const passedObject: Schema = { type: 'object' };
const passedList: Schema = { type: 'array', items: { type: 'object' } };
const orEmpty = (schema: Schema): Schema => ({ anyOf: [schema, { const: '' }] });
const oneOf = (...values: string[]): Schema => ({ type: 'string', enum: values });
const quantity: Schema = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?$' };

function object(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', additionalProperties: false, properties };
}

/** Allowed values of `topologySpread`; an empty value omits the constraint. */
const spread = oneOf('', 'ScheduleAnyway', 'DoNotSchedule');
const probe = object({
  initialDelaySeconds: count,
  periodSeconds: count,
  timeoutSeconds: count,
  failureThreshold: count,
  successThreshold: count,
});
const image = object({
  registry: text,
  repository: { type: 'string', minLength: 1 },
  tag: text,
  digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
});
const textList: Schema = { type: 'array', items: text };
const account = object({ create: flag, name: text, annotations: textMap });
/** Keys that apply to every pod of the platform, e.g. of a Deployment or a Job. */
const pod: Record<string, Schema> = {
  resources: passedObject,
  extraEnv: passedList,
  extraEnvFrom: passedList,
  extraVolumes: passedList,
  extraVolumeMounts: passedList,
  extraContainers: passedList,
  initContainers: passedList,
  nodeSelector: textMap,
  tolerations: passedList,
  affinity: passedObject,
  hostAliases: passedList,
  dnsPolicy: text,
  dnsConfig: passedObject,
  runtimeClassName: text,
  priorityClassName: text,
  annotations: textMap,
  podAnnotations: textMap,
  podLabels: textMap,
  podSecurityContext: passedObject,
  containerSecurityContext: passedObject,
  serviceAccount: account,
};
const service: Record<string, Schema> = {
  type: oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
  labels: textMap,
  annotations: textMap,
  nodePorts: object({ http: port, internal: port }),
  loadBalancerClass: text,
  loadBalancerSourceRanges: textList,
  loadBalancerIP: text,
  externalIPs: textList,
  externalTrafficPolicy: oneOf('', 'Cluster', 'Local'),
  internalTrafficPolicy: oneOf('', 'Cluster', 'Local'),
  trafficDistribution: text,
  sessionAffinity: oneOf('', 'None', 'ClientIP'),
  ipFamilyPolicy: oneOf('', 'SingleStack', 'PreferDualStack', 'RequireDualStack'),
  ipFamilies: { type: 'array', items: oneOf('IPv4', 'IPv6') },
};
const peers = object({ to: passedList, ports: { type: 'array', items: port } });

function listSettings({ components, audit }: PlatformFacts): { plain: string[]; secret: string[] } {
  const plain = new Set<string>();
  const secret = new Set<string>(['DATABASE_URL_ADMIN', 'NATS_URL_ADMIN', 'NATS_URL_CLI', 'DEMO_PASSWORD']);
  for (const [component, { settings }] of Object.entries({ ...components, audit })) {
    for (const [name, facts] of Object.entries(settings)) {
      if (!facts.secret) plain.add(name);
      else secret.add(secretKeyOf(component, name));
    }
  }
  return { plain: [...plain].toSorted(), secret: [...secret].toSorted() };
}

function describeComponent(env: Schema): Record<string, Schema> {
  return {
    replicas: count,
    autoscaling: object({
      type: oneOf('', 'hpa', 'keda'),
      minReplicas: count,
      maxReplicas: { type: 'integer', minimum: 1 },
      targetCPUUtilizationPercentage: orEmpty({ type: 'integer', minimum: 1 }),
      targetMemoryUtilizationPercentage: orEmpty({ type: 'integer', minimum: 1 }),
      behavior: passedObject,
      lagThreshold: { type: 'integer', minimum: 1 },
      natsMonitoringEndpoint: text,
      natsAccount: text,
      extraTriggers: passedList,
    }),
    env,
    ...pod,
    topologySpread: object({ zone: spread, node: spread }),
    topologySpreadConstraints: passedList,
    strategy: passedObject,
    minReadySeconds: orEmpty(count),
    revisionHistoryLimit: count,
    service: object(service),
    terminationGracePeriodSeconds: count,
    drainSeconds: count,
    podDisruptionBudget: object({
      enabled: flag,
      maxUnavailable: { anyOf: [count, { type: 'string', pattern: '^[0-9]+%$' }] },
    }),
    probes: object({ liveness: probe, readiness: probe, startup: probe }),
  };
}

/** Returns the text of `values.schema.json`. */
export async function describeChartSchema(): Promise<string> {
  const facts = await readPlatformFacts();
  const { plain, secret } = listSettings(facts);
  const scalar = { type: ['string', 'number', 'boolean'] };
  const envOf = (names: readonly string[]): Schema => object(Object.fromEntries(names.map((name) => [name, scalar])));
  const settings = envOf(plain);
  const secretTexts = object(Object.fromEntries(secret.map((name) => [name, text])));
  const secretKey = {
    anyOf: [text, { ...object({ secret: { type: 'string', minLength: 1 }, key: text }), required: ['secret'] }],
  };
  const secretKeys = object(Object.fromEntries(secret.map((name) => [name, secretKey])));
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Values of the Coherence chart',
    ...object({
      nameOverride: text,
      fullnameOverride: text,
      global: object({
        imageRegistry: text,
        imagePullSecrets: passedList,
        labels: textMap,
        caBundle: object({ configMap: text, secret: text, key: { type: 'string', minLength: 1 } }),
      }),
      image: object({
        ...(image['properties'] as Record<string, Schema>),
        pullPolicy: oneOf('IfNotPresent', 'Always', 'Never'),
      }),
      profiles: oneOf('', 'evaluation'),
      settings,
      secrets: object({
        existingSecret: text,
        keys: secretKeys,
        values: secretTexts,
        mountAsFiles: flag,
        revision: text,
      }),
      nats: object({ ...describeNatsProofs(), users: object(describeNatsUsers(facts)) }),
      defaults: object(describeComponent(settings)),
      components: object(describeComponents(facts, envOf)),
      serviceAccount: account,
      extraObjects: { type: 'array', items: { type: ['object', 'string'] } },
      podSecurityContext: passedObject,
      containerSecurityContext: passedObject,
      ...describeTasks(),
      ...describeNetwork(),
      ...describeWatching(),
    }),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function describeNatsProofs(): Record<string, Schema> {
  const key: Schema = { type: 'string', minLength: 1 };
  return {
    credentials: object({ secret: text, kind: oneOf('creds', 'nkey'), key: text }),
    clientCertificate: object({ secret: text, certKey: key, keyKey: key }),
  };
}

function describeNatsUsers({ components }: PlatformFacts): Record<string, Schema> {
  return Object.fromEntries(
    [...Object.keys(components), 'admin', 'cli'].map((user) => [user, object(describeNatsProofs())]),
  );
}

function describeComponents(
  { components }: PlatformFacts,
  envOf: (names: readonly string[]) => Schema,
): Record<string, Schema> {
  const described = Object.entries(components).map(([name, { settings: known }]) => {
    const own = describeComponent(envOf(Object.keys(known).filter((setting) => known[setting]?.secret === false)));
    if (name === 'gateway') {
      own['spool'] = object({ type: oneOf('emptyDir', 'persistentVolume'), size: quantity, storageClassName: text });
      own['service'] = object({ ...service, port });
    }
    if (name === 'media' || name === 'transcripts') own['scratch'] = object({ sizeLimit: quantity });
    return [name, object(own)] as const;
  });
  return Object.fromEntries(described);
}

/** Returns the schema of the release's jobs and of optional components. */
function describeTasks(): Record<string, Schema> {
  return {
    migrations: object({
      mode: oneOf('hook', 'job', 'initContainer', 'none'),
      activeDeadlineSeconds: count,
      waitSeconds: { type: 'integer', minimum: 1, maximum: 86_400 },
      backoffLimit: count,
      ttlSecondsAfterFinished: orEmpty(count),
      ...pod,
    }),
    streams: object({
      replicas: orEmpty({ type: 'integer', minimum: 1, maximum: maxReplicas }),
      maxBytes: object(
        Object.fromEntries(streamNames.map((name) => [name, { type: 'integer', minimum: fewestBytes }])),
      ),
    }),
    audit: object({
      enabled: flag,
      schedule: { type: 'string', minLength: 1 },
      timeZone: text,
      activeDeadlineSeconds: count,
      ...pod,
    }),
    workspace: object({
      file: text,
      existingConfigMap: text,
      envFrom: passedList,
      mode: oneOf('hook', 'job'),
      demo: flag,
      ...pod,
    }),
    toolbox: object({ enabled: flag, ...pod }),
    backup: object({
      enabled: flag,
      schedule: { type: 'string', minLength: 1 },
      url: { type: 'string', pattern: '^(s3://.+|/backups(/.*)?)?$' },
      recipients: { type: 'string', pattern: '^(age1[0-9a-z]+\\s*)*$' },
      objects: flag,
      keepDays: { type: 'integer', minimum: 0, maximum: 36_500 },
      existingClaim: text,
      databaseUrlKey: text,
      activeDeadlineSeconds: { type: 'integer', minimum: 60 },
      ...pod,
    }),
  };
}

function describeNetwork(): Record<string, Schema> {
  return {
    ingress: object({
      enabled: flag,
      className: text,
      controller: oneOf('', 'ingress-nginx', 'nginx', 'haproxy', 'openshift', 'alb'),
      annotations: textMap,
      labels: textMap,
      hosts: { type: 'array', items: { ...object({ host: { type: 'string', minLength: 1 } }), required: ['host'] } },
      tls: passedList,
      mediaDirect: flag,
      paths: textList,
      mediaPath: text,
      pathType: oneOf('Prefix', 'Exact', 'ImplementationSpecific'),
      extraPaths: passedList,
    }),
    httpRoute: object({
      enabled: flag,
      parentRefs: passedList,
      hostnames: textList,
      annotations: textMap,
      labels: textMap,
      filters: passedList,
      extraRules: passedList,
      mediaDirect: flag,
      requestTimeout: { type: 'string', pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$' },
    }),
    networkPolicy: object({
      enabled: flag,
      gatewayFrom: passedList,
      mediaFrom: passedList,
      metricsFrom: passedList,
      extraIngress: passedList,
      extraEgress: passedList,
      egress: object({
        dns: peers,
        postgresql: peers,
        nats: peers,
        objectStore: peers,
        outbound: peers,
        tracing: peers,
      }),
    }),
  };
}

/** Returns the schema of metrics, release tests, and evaluation servers. */
function describeWatching(): Record<string, Schema> {
  return {
    metrics: object({
      serviceMonitor: object({
        enabled: flag,
        interval: text,
        scrapeTimeout: text,
        token: flag,
        labels: textMap,
        annotations: textMap,
        jobLabel: text,
        targetLabels: textList,
        relabelings: passedList,
        metricRelabelings: passedList,
      }),
      prometheusRule: object({
        enabled: flag,
        labels: textMap,
        matchers: textMap,
        runbookBaseUrl: text,
        disabled: { type: 'array', items: text },
      }),
      dashboards: object({ enabled: flag, labels: textMap, annotations: textMap }),
    }),
    tests: object({ existingSecret: text, ...pod }),
    evaluation: object({
      password: { type: 'string', pattern: '^[A-Za-z0-9_-]*$' },
      ...Object.fromEntries(
        ['postgresql', 'nats', 'objectStore'].map((name) => [
          name,
          object({ image, command: { type: 'array', items: text }, resources: passedObject }),
        ]),
      ),
      persistence: object({ enabled: flag, size: quantity, storageClassName: text }),
    }),
  };
}
