/**
 * Starts services for tests: a single one in this process, or all seven, either in this process or each in a separate
 * process.
 */
import { appendFileSync, mkdirSync, readdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JobTuning } from '#libs/infrastructure/jobs';
import type { Service } from '#libs/infrastructure/lifecycle';
import { createLogger, type Logger } from '#libs/infrastructure/logger';
import type { PipelineExtension } from '#libs/product/pipeline-worker';
import {
  findFreePort,
  listDatabaseUrls,
  listNatsUrls,
  loadServiceConfig,
  type ServiceProcess,
  settingsOfService,
  startServiceProcess,
} from '#libs/product/servers';
import type { Clock } from '#libs/infrastructure/time';
import type { PaceRule } from '#libs/infrastructure/transfer';
import { type CliOutcome, runCli } from './cli.ts';
import type { TestEnvironment } from './environment.ts';
import { waitFor } from './wait-for.ts';

const repoDir = join(import.meta.dirname, '..', '..', '..');
/**
 * A long limit, which is reached only on failure: on a busy machine, fourteen processes that start together take
 * minutes.
 */
const startTimeoutMs = 240_000;

type Settings = Readonly<Record<string, string>>;

/** Exports of `services/<name>/service.ts`. */
interface ServiceModule {
  createService(options: { config: unknown } & StartOptions): Promise<Service>;
}

/** Options of a service in addition to its settings. Some services support only a part of them. */
export interface StartOptions {
  /** Default: the environment's logger. */
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** Returns milliseconds of a monotonic clock, for caches. */
  readonly monotonicMs?: () => number;
  readonly pipeline?: PipelineExtension;
  readonly tuning?: Partial<JobTuning>;
  readonly maxIndexRunMs?: number;
  readonly dueIntervalMs?: number;
  readonly paceRules?: { readonly body: PaceRule; readonly answer: PaceRule };
}

/**
 * Starts one service in this process. It stops together with the environment.
 * @param overrides settings that replace the environment's
 */
export async function startService(
  name: string,
  env: TestEnvironment,
  overrides: Settings = {},
  options: StartOptions = {},
): Promise<Service> {
  const { createService } = (await import(
    pathToFileURL(join(repoDir, 'services', name, 'service.ts')).href
  )) as ServiceModule;
  const config = await loadServiceConfig(name, withOwnAccounts(name, { ...env.settings, ...overrides }));
  const service = await createService({ config, logger: env.logger.child({ service: name }), ...options });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= service.stop());
  env.onStop(stop);
  await service.start();
  return { ...service, start: () => service.start(), stop };
}

/**
 * Returns the settings with the service's own accounts, as in production (libs/product/servers/service-accounts.ts), if the
 * servers of the test run have these accounts.
 */
function withOwnAccounts(name: string, settings: Settings): Settings {
  const { TEST_SERVICE_SECRET: secret = '' } = process.env;
  const { DATABASE_URL: database, NATS_URL: nats } = settings;
  if (secret === '' || database === undefined || nats === undefined) return settings;
  return settingsOfService(name, { ...settings, ...listDatabaseUrls(database, secret), ...listNatsUrls(nats, secret) });
}

export interface PlatformOptions {
  /**
   * Whether services run in separate processes, as in production: all of them or the listed ones. Default false: all in
   * this process.
   */
  processes?: boolean | readonly string[];
  /**
   * Number of processes per service; default 1. More than one requires `processes`, and adds a load balancer for
   * gateways and media services.
   */
  replicas?: number;
  /** Settings that replace the environment's, for every service. */
  overrides?: Settings;
  /** Services to run; default all. */
  services?: readonly string[];
  clock?: Clock;
  /**
   * Folder whose code the processes run at first. `restart` runs the code of this repository unless another folder is
   * given.
   */
  startedFrom?: string;
  /** URLs of modules that each process loads before the service's program. */
  imports?: readonly string[];
}

export interface Platform {
  /** `http://127.0.0.1:<port>` of the gateway. */
  readonly baseUrl: string;
  readonly settings: Settings;
  /**
   * The separate processes by service, if `processes` is set. The name of the second replica ends with `#2`, and so on.
   * `restart` starts an ended process again, with changed settings.
   */
  readonly processes: ReadonlyMap<string, ServiceProcess>;
  restart(name: string, changed?: Settings, codeDir?: string): Promise<void>;
  /** Variables of the admin CLI for this platform. */
  readonly cliSettings: Settings;
  /** Runs the admin CLI against this platform (./cli.ts). */
  cli(...args: string[]): Promise<CliOutcome>;
  /** Stops every service. Stopping the environment has the same effect. */
  stop(): Promise<void>;
}

interface Face {
  readonly service: string;
  readonly setting: string;
  readonly port: number;
}

/** Starts the services and waits until all are ready; they stop with the environment. */
export async function startPlatform(env: TestEnvironment, options: PlatformOptions = {}): Promise<Platform> {
  const [gatewayPort, mediaPort, internalPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const mediaUrls = {
    MEDIA_URL: `http://127.0.0.1:${mediaPort}`,
    MEDIA_INTERNAL_URL: `http://127.0.0.1:${internalPort}`,
  };
  const settings: Settings = { ...env.settings, ...mediaUrls, ...options.overrides };
  const services = options.services ?? readdirSync(join(options.startedFrom ?? repoDir, 'services'));
  const replicas = options.replicas ?? 1;
  const names = services.flatMap((name) => Array.from({ length: replicas }, (_, index) => replicaName(name, index)));
  /** Setting of each service's port. */
  const faces: readonly Face[] = [
    { service: 'api-gateway', setting: 'PORT', port: gatewayPort },
    { service: 'media', setting: 'PORT', port: mediaPort },
    { service: 'media', setting: 'INTERNAL_PORT', port: internalPort },
  ];
  const ports = new Map<Face, Map<string, number>>();
  for (const face of faces) {
    const own = new Map<string, number>();
    for (const name of names)
      if (serviceOf(name) === face.service) own.set(name, replicas === 1 ? face.port : await findFreePort());
    ports.set(face, own);
  }
  const portsOf = (name: string): Settings =>
    Object.fromEntries(
      faces.flatMap((face) => {
        const port = ports.get(face)?.get(name);
        return port === undefined ? [] : [[face.setting, String(port)]];
      }),
    );
  const settingsOf = (name: string): Settings => ({
    ...settings,
    ...portsOf(name),
    ...(name === serviceOf(name)
      ? {}
      : { WEBHOOK_SPOOL_DIR: `${settings['WEBHOOK_SPOOL_DIR']}-${name.split('#')[1]}` }),
  });
  const { processes: apart = false } = options;
  const isApart = (service: string): boolean => (typeof apart === 'boolean' ? apart : apart.includes(service));
  const balancers: Balancer[] = [];
  const processes = new Map<string, ServiceProcess>();
  const inProcess: Service[] = [];
  const start = async (name: string, changed: Settings = {}, codeDir = repoDir): Promise<void> => {
    const own = { ...settingsOf(name), ...changed };
    if (!isApart(serviceOf(name))) {
      const logger = openLog(env, name, own['LOG_LEVEL']);
      inProcess.push(
        await startService(name, env, own, {
          logger,
          ...(options.clock === undefined ? {} : { clock: options.clock }),
        }),
      );
      return;
    }
    processes.set(name, await startProcess(name, env, own, { codeDir, imports: options.imports ?? [] }));
    await Promise.all(balancers.map((balancer) => balancer.poll()));
  };
  const stop = async (): Promise<void> => {
    await Promise.all([...processes.values(), ...inProcess].map((item) => item.stop()));
    await Promise.all(balancers.splice(0).map((balancer) => balancer.stop()));
  };
  env.onStop(stop);
  // Waits for all starts before a failure is reported, so that all started services stop together with the environment.
  const starts = await Promise.allSettled(names.map((name) => start(name, {}, options.startedFrom)));
  for (const item of starts) if (item.status === 'rejected') throw item.reason;
  for (const face of replicas === 1 ? [] : faces) {
    const backends = [...(ports.get(face) ?? [])].map(([name, backendPort]) => ({
      port: backendPort,
      isReady: async () => (await processes.get(name)?.readReadiness()) === undefined,
    }));
    if (backends.length > 0) balancers.push(await startBalancer(face.port, backends));
  }
  const cliSettings = withOwnAccounts('cli', settings);
  return {
    baseUrl: `http://127.0.0.1:${gatewayPort}`,
    settings,
    processes,
    restart: start,
    cliSettings,
    cli: (...args) => runCli(args, cliSettings),
    stop,
  };
}

const replicaName = (service: string, index: number): string => (index === 0 ? service : `${service}#${index + 1}`);
const serviceOf = (name: string): string => name.split('#')[0] ?? name;

const logFileOf = (env: TestEnvironment, name: string): string =>
  join(repoDir, '.data', 'test-logs', env.id, `${name.replace('#', '-')}.log`);

/** Creates a log for a service in this process, in the same format as for a separate process. */
function openLog(env: TestEnvironment, service: string, level = 'error'): Logger {
  const file = logFileOf(env, service);
  mkdirSync(dirname(file), { recursive: true });
  return createLogger({ service, level, destination: { write: (line) => appendFileSync(file, line) } });
}

async function startProcess(
  name: string,
  env: TestEnvironment,
  settings: Settings,
  { codeDir, imports }: { codeDir: string; imports: readonly string[] },
): Promise<ServiceProcess> {
  const service = serviceOf(name);
  const item = await startServiceProcess({
    repoDir: codeDir,
    name: service,
    imports,
    logFile: logFileOf(env, name),
    env: { ...withOwnAccounts(service, settings), METRICS_PORT: String(await findFreePort()) },
  });
  try {
    await waitFor(async () => item.hasEnded || (await item.readReadiness()) === undefined, {
      timeoutMs: startTimeoutMs,
      what: name,
    });
  } catch (error) {
    await item.stop();
    throw error;
  }
  if (item.hasEnded) throw new Error(`${name} ${await item.ended}; its log ends with:\n${item.readLogTail()}`);
  return item;
}

export interface Backend {
  readonly port: number;
  isReady(): Promise<boolean>;
}

export interface Balancer {
  /** Checks the readiness of the replicas now, e.g. after one was added. */
  poll(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a load balancer on `port`. `pollEveryMs` is the maximum time until it detects a change of readiness. */
export async function startBalancer(port: number, backends: readonly Backend[], pollEveryMs = 500): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let ready: readonly Backend[] = [];
  let turn = 0;
  const poll = async (): Promise<void> => {
    const states = await Promise.all(backends.map((backend) => backend.isReady()));
    ready = backends.filter((_backend, index) => states[index] === true);
  };
  const server = createServer((client) => {
    turn += 1;
    const chosen = ready[turn % ready.length];
    if (chosen === undefined) return void client.resetAndDestroy();
    const upstream = connect({ host: '127.0.0.1', port: chosen.port });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.resetAndDestroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroySoon();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  await poll();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const timer = setInterval(() => void poll(), pollEveryMs);
  return {
    poll: poll,
    stop: async () => {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
