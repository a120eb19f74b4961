/**
 * The operations port of a service: `/livez` (the process only), `/startupz` (start-up done), `/readyz` (which dependency is
 * missing; false while draining) and `/metrics`.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Logger } from '#libs/logger';
import { createMetrics, type Metrics } from './metrics.ts';
import { getTracer, setTracer } from './tracing.ts';

/** Resolves when the dependency can be used; rejects with a message that says what is wrong. */
export type Check = () => Promise<void>;

export interface Telemetry {
  readonly metrics: Metrics;
  /** Listens on the operations port. Call it before anything that takes time. @throws Error when the port is taken. */
  start(): Promise<void>;
  /** From now on `/startupz` is true, and `/readyz` as far as the dependencies are there. */
  started(): void;
  /** From now on `/readyz` is false: no new work, please. */
  draining(): void;
  stop(): Promise<void>;
  /** The port really used (`metricsPort` 0 takes any). */
  readonly port: number;
}

interface Readiness {
  status: 'ready' | 'starting' | 'draining' | 'unavailable';
  /** Dependency → `ok` or what is wrong. */
  checks: Record<string, string>;
  missing: string[];
}

const checkTimeoutMs = 2_000;

/** Where traces go, as `telemetrySettings` (libs/config) has it; without an endpoint there are none. */
export interface TracingSettings {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_HEADERS?: string;
  readonly OTEL_TRACES_SAMPLER_ARG?: number;
}

/** Health, metrics and traces of one service; `checks` names each dependency as operators know it, e.g. `postgresql`. */
export function createTelemetry(options: {
  service: string;
  logger: Logger;
  metricsPort: number;
  checks: Readonly<Record<string, Check>>;
  tracing?: TracingSettings;
}): Telemetry {
  const metrics = createMetrics(options.service);
  let phase: 'starting' | 'started' | 'draining' = 'starting';
  let port = options.metricsPort;

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
  let stopTracing = (): Promise<void> => Promise.resolve();

  const server = createServer((request, response) => {
    answer(request.url ?? '/', response).catch((error: unknown) => {
      options.logger.error({ err: error }, 'operations request failed');
      response.destroy();
    });
  });

  const answer = async (url: string, response: ServerResponse): Promise<void> => {
    const path = url.split('?', 1)[0];
    if (path === '/livez') return sendJson(response, 200, { status: 'alive' });
    if (path === '/startupz') return sendJson(response, phase === 'starting' ? 503 : 200, { status: phase });
    if (path === '/readyz') {
      const state = await readiness();
      return sendJson(response, state.status === 'ready' ? 200 : 503, state);
    }
    if (path !== '/metrics') return sendJson(response, 404, { status: 'not found' });
    const { contentType, text } = await metrics.render();
    response.writeHead(200, { 'content-type': contentType }).end(text);
  };

  return {
    metrics,
    get port() {
      return port;
    },
    start: async () => {
      stopTracing = await startTracing(options.service, options.logger, options.tracing ?? {});
      port = await listen(server, options.metricsPort);
    },
    started: () => {
      if (phase === 'starting') phase = 'started';
    },
    draining: () => {
      phase = 'draining';
    },
    stop: async () => {
      await stopTracing();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/** Gives the process its tracer, unless a service of the same process did. @returns the end of it */
async function startTracing(service: string, logger: Logger, settings: TracingSettings): Promise<() => Promise<void>> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers = '', OTEL_TRACES_SAMPLER_ARG: share = 1 } = settings;
  if (endpoint === undefined || getTracer() !== undefined) return () => Promise.resolve();
  const { createOtlpTracer } = await import('./otlp.ts');
  const { tracer, stop } = createOtlpTracer({ service, endpoint, headers, share, logger });
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
    return error instanceof Error && error.message !== '' ? error.message : 'failed';
  } finally {
    clearTimeout(timer);
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new Error(`METRICS_PORT ${port} is in use by another process`, { cause: error }) : error),
    );
    server.listen(port, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body));
}
