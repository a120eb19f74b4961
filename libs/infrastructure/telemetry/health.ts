/**
 * The operations port of a service: `/livez` (the process runs), `/startupz` (it has started), `/readyz` (its
 * dependencies are available and it is not draining) and `/metrics`. Only `/metrics` can require a token, since probes
 * cannot send one.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeWithCause } from '#libs/infrastructure/errors';
import { createHttpServer } from '#libs/infrastructure/http/server';
import type { Logger } from '#libs/infrastructure/logger';
import { releaseVersion as version } from '#libs/infrastructure/release';
import { createMetrics, type Metrics } from './metrics.ts';
import { findTracer, isTracingOn, setTracer, type TracingSettings } from './tracing.ts';

/** Resolves when the dependency is available; rejects with the problem. */
export type Check = () => Promise<void>;

export interface Telemetry {
  readonly metrics: Metrics;
  /** Listens on the operations port. Call it before slow work of the start. @throws Error when the port is in use */
  start(): Promise<void>;
  /** Marks the process as started. From then on, `/readyz` depends on the checks. */
  started(): void;
  /** Returns the status of the process for operators (P1). */
  describe(): Promise<ProcessFacts>;
  /** Makes `/readyz` fail, so that no new work is routed to this process. */
  draining(): void;
  stop(): Promise<void>;
  /** The port on which the server listens. */
  readonly port: number;
}

interface ProcessFacts {
  readonly version: string;
  readonly uptime_seconds: number;
  readonly ready: boolean;
  readonly checks: { readonly name: string; readonly problem: string | null }[];
}

interface Readiness {
  status: 'ready' | 'starting' | 'draining' | 'unavailable';
  /** `ok` or a description of the problem, by dependency. */
  checks: Record<string, string>;
  missing: string[];
}

const checkTimeoutMs = 2_000;

/** Settings of the operations port, declared as `telemetrySettings` in libs/infrastructure/config. */
export interface TelemetrySettings extends TracingSettings {
  /** Port number; 0: any free port. */
  readonly METRICS_PORT: number;
  readonly METRICS_HOST?: string;
  /** Token that `/metrics` requires; empty: no token is required. */
  readonly METRICS_TOKEN?: string;
  /** Whether metrics are also exposed by their names of earlier releases. */
  readonly METRICS_OLD_NAMES?: boolean;
  /** Commit from which the image was built. */
  readonly COHERENCE_COMMIT?: string;
  /** Maximum connections of each port of the process, as in the gateway. */
  readonly MAX_CONNECTIONS?: number;
}

/** Default limit: probes and scrapes need few connections. Beyond the limit, an idle connection is closed (D95). */
const usualMaxConnections = 1_000;

/**
 * Creates health, metrics and traces of one service. The keys of `checks` are names of dependencies, e.g. `postgresql`.
 */
export function createTelemetry(options: {
  service: string;
  logger: Logger;
  checks: Readonly<Record<string, Check>>;
  settings: TelemetrySettings;
}): Telemetry {
  const metrics = createMetrics(options.service, { oldNames: options.settings.METRICS_OLD_NAMES ?? false });
  let phase: 'starting' | 'started' | 'draining' = 'starting';
  const { METRICS_PORT: metricsPort, METRICS_HOST: host = '127.0.0.1', METRICS_TOKEN: token = '' } = options.settings;
  const { MAX_CONNECTIONS: maxConnections = usualMaxConnections } = options.settings;
  const isAuthorized = createTokenCheck(token);
  let port = metricsPort;

  const readiness = async (): Promise<Readiness> => {
    const names = Object.keys(options.checks);
    const states = await Promise.all(names.map(async (name) => runCheck(options.checks[name])));
    const checks = Object.fromEntries(names.map((name, index) => [name, states[index] ?? 'ok']));
    const missing = names.filter((name) => checks[name] !== 'ok');
    if (phase !== 'started') return { status: phase, checks, missing };
    return { status: missing.length === 0 ? 'ready' : 'unavailable', checks, missing };
  };

  metrics.gauge('service_ready', '1 while the service is started and every dependency answers', [], async (gauge) => {
    gauge.set((await readiness()).status === 'ready' ? 1 : 0);
  });
  const build = metrics.gauge('build_info', '1, with the release and the commit that run', ['version', 'commit']);
  build.set({ version, commit: options.settings.COHERENCE_COMMIT ?? 'unknown' }, 1);
  let stopTracing = (): Promise<void> => Promise.resolve();

  const handle = (request: IncomingMessage, response: ServerResponse): Promise<void> =>
    answer(request, response).catch((error: unknown) => {
      options.logger.error({ err: error }, 'operations request failed');
      response.destroy();
    });
  const server = createHttpServer(handle, { portName: 'METRICS_PORT', maxConnections, isAnonymous: () => true });

  const answer = async ({ url = '/', headers }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = '', query = ''] = url.split('?', 2);
    if (path === '/livez') return sendJson(response, 200, { status: 'alive' });
    if (path === '/startupz') return sendJson(response, phase === 'starting' ? 503 : 200, { status: phase });
    if (path === '/readyz') {
      const state = await readiness();
      return sendJson(response, state.status === 'ready' ? 200 : 503, state);
    }
    if (path !== '/metrics') return sendJson(response, 404, { status: 'not found' });
    if (!isAuthorized(headers.authorization)) {
      response.setHeader('www-authenticate', 'Bearer');
      return sendJson(response, 401, { status: 'METRICS_TOKEN is asked for' });
    }
    const names = new URLSearchParams(query).getAll('name[]'); // the parameter name that Prometheus's own clients use
    const { accept } = headers;
    const { contentType, text } = await metrics.render(
      names.length === 0 ? { accept } : { accept, names: new Set(names) },
    );
    response.writeHead(200, { 'content-type': contentType, vary: 'accept' }).end(text);
  };

  return {
    metrics,
    get port() {
      return port;
    },
    start: async () => {
      stopTracing = await startTracing(options.service, options.logger, options.settings);
      port = await server.listen({ host, port: metricsPort });
    },
    describe: async () => {
      const { status, checks } = await readiness();
      return {
        version,
        uptime_seconds: Math.floor(process.uptime()),
        ready: status === 'ready',
        checks: Object.entries(checks).map(([name, state]) => ({ name, problem: state === 'ok' ? null : state })),
      };
    },
    started: () => {
      if (phase === 'starting') phase = 'started';
    },
    draining: () => {
      phase = 'draining';
    },
    stop: async () => {
      await stopTracing();
      await server.close();
    },
  };
}

/**
 * Sets the tracer of the process, unless another service in the process has set it. @returns a function that stops the
 * tracer
 */
async function startTracing(
  service: string,
  logger: Logger,
  settings: TelemetrySettings,
): Promise<() => Promise<void>> {
  if (!isTracingOn(settings) || findTracer() !== undefined) return () => Promise.resolve();
  const { createOtlpTracer } = await import('./otlp.ts');
  const { tracer, stop } = createOtlpTracer({ service, settings, logger });
  setTracer(tracer);
  return async () => {
    setTracer(undefined);
    await stop();
  };
}

async function runCheck(check: Check | undefined): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${checkTimeoutMs} ms`)), checkTimeoutMs);
  });
  try {
    await Promise.race([check?.(), timeout]);
    return 'ok';
  } catch (error) {
    return error instanceof Error && error.message !== '' ? describeWithCause(error) : 'failed';
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns a check whether an `Authorization` header contains the token. The check always returns true when no token is
 * configured.
 */
function createTokenCheck(token: string): (header: string | undefined) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = digest(`Bearer ${token}`);
  return (header) => token === '' || timingSafeEqual(digest(header ?? ''), expected);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
}
