import { createServer } from 'node:http';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { releaseVersion } from '#libs/infrastructure/release';
import {
  createMetrics,
  createTelemetry,
  newRequestId,
  newTraceparent,
  readRequestId,
  readTraceIds,
  type Check,
  type Telemetry,
} from './index.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
const running: Telemetry[] = [];

async function start(checks: Record<string, Check> = {}): Promise<Telemetry> {
  const telemetry = createTelemetry({ service: 'media', logger, settings: { METRICS_PORT: 0 }, checks });
  running.push(telemetry);
  await telemetry.start();
  return telemetry;
}

async function read(telemetry: Telemetry, path: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`http://127.0.0.1:${telemetry.port}${path}`);
  return { status: response.status, body: await response.json() };
}

afterEach(async () => {
  for (const telemetry of running.splice(0)) await telemetry.stop();
});

describe('health endpoints (rules/operations#health)', () => {
  it('reports alive immediately, and started and ready only after the service set these states', async () => {
    const telemetry = await start({ nats: async () => {} });
    await expect(read(telemetry, '/livez')).resolves.toMatchObject({ status: 200 });
    await expect(read(telemetry, '/startupz')).resolves.toMatchObject({ status: 503 });
    await expect(read(telemetry, '/readyz')).resolves.toMatchObject({ status: 503, body: { status: 'starting' } });
    telemetry.started();
    await expect(read(telemetry, '/startupz')).resolves.toMatchObject({ status: 200 });
    await expect(read(telemetry, '/readyz')).resolves.toEqual({
      status: 200,
      body: { status: 'ready', checks: { nats: 'ok' }, missing: [] },
    });
  });

  it('limits connections, headers and malformed requests on the health port like on the public port (D95)', async () => {
    const telemetry = createTelemetry({
      service: 'media',
      logger,
      settings: { METRICS_PORT: 0, MAX_CONNECTIONS: 10 },
      checks: {},
    });
    running.push(telemetry);
    await telemetry.start();
    const closed: Socket[] = [];
    const open = async (): Promise<Socket> => {
      const socket = connect(telemetry.port, '127.0.0.1').on('error', () => undefined);
      socket.on('close', () => closed.push(socket)).resume();
      await once(socket, 'connect');
      return socket;
    };
    const sockets: Socket[] = [];
    for (let count = 0; count < 13; count++) sockets.push(await open());
    await expect(read(telemetry, '/livez')).resolves.toMatchObject({ status: 200 });
    for (const socket of sockets.slice(0, 4)) if (!socket.destroyed) await once(socket, 'close');
    expect(closed).toHaveLength(4);
    const response = await fetch(`http://127.0.0.1:${telemetry.port}/livez`, { headers: { long: 'x'.repeat(20_000) } });
    expect([response.status, await response.json()]).toEqual([431, { detail: 'Request header fields too large' }]);
    const last = sockets.at(-1);
    last?.setEncoding('latin1').write('nonsense\r\n\r\n');
    const [text] = last === undefined ? [] : ((await once(last, 'data')) as [string]);
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    for (const socket of sockets) socket.destroy();
  });

  it('reports failed dependencies with the reason in /readyz, and remains alive', async () => {
    const telemetry = await start({
      nats: async () => {},
      postgresql: () => Promise.reject(new Error('connection refused')),
    });
    telemetry.started();
    await expect(read(telemetry, '/readyz')).resolves.toEqual({
      status: 503,
      body: {
        status: 'unavailable',
        checks: { nats: 'ok', postgresql: 'connection refused' },
        missing: ['postgresql'],
      },
    });
    await expect(read(telemetry, '/livez')).resolves.toMatchObject({ status: 200 });
  });

  it('reports a dependency that does not respond as failed', async () => {
    const telemetry = await start({ 'object store': () => new Promise(() => {}) });
    telemetry.started();
    await expect(read(telemetry, '/readyz')).resolves.toMatchObject({
      status: 503,
      body: { missing: ['object store'] },
    });
  });

  it('remains unready while draining, even if the service is set to started', async () => {
    const telemetry = await start();
    telemetry.started();
    telemetry.draining();
    telemetry.started();
    await expect(read(telemetry, '/readyz')).resolves.toMatchObject({ status: 503, body: { status: 'draining' } });
    await expect(read(telemetry, '/livez')).resolves.toMatchObject({ status: 200 });
  });

  it('rejects a port in use with the name of its variable', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => {
      other.listen(0, resolve);
    });
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const telemetry = createTelemetry({ service: 'media', logger, settings: { METRICS_PORT: port }, checks: {} });
    await expect(telemetry.start()).rejects.toThrow(`METRICS_PORT ${port} is in use`);
    other.close();
  });
});

describe('METRICS_TOKEN', () => {
  it('requires the token for /metrics, but not for the health endpoints', async () => {
    const telemetry = createTelemetry({
      service: 'media',
      logger,
      settings: { METRICS_PORT: 0, METRICS_TOKEN: 'scrape' },
      checks: {},
    });
    await telemetry.start();
    const statusOf = async (path: string, authorization?: string): Promise<number> =>
      (
        await fetch(`http://127.0.0.1:${telemetry.port}${path}`, {
          headers: authorization === undefined ? {} : { authorization },
        })
      ).status;
    for (const given of [undefined, 'Bearer', 'Bearer scrap', 'Bearer scrapes', 'Basic scrape']) {
      await expect(statusOf('/metrics', given)).resolves.toBe(401);
    }
    await expect(statusOf('/metrics', 'Bearer scrape')).resolves.toBe(200);
    await expect(statusOf('/livez')).resolves.toBe(200);
    await telemetry.stop();
  });
});

describe('request and process metrics (rules/operations#metrics)', () => {
  it('reports rate, errors and duration of requests, and process metrics', async () => {
    const telemetry = await start();
    telemetry.metrics.red('http_server_requests', 'HTTP requests', ['route']).observe({ route: '/a/{id}' }, 404, 0.02);
    const response = await fetch(`http://127.0.0.1:${telemetry.port}/metrics`);
    const text = await response.text();
    expect(response.headers.get('keep-alive')).toBe('timeout=65, max=10000');
    expect(text).toContain('coherence_http_server_requests_total{route="/a/{id}",outcome="404",service="media"} 1');
    expect(text).toMatch(
      /coherence_http_server_requests_duration_seconds_bucket\{le="0\.025",route="\/a\/\{id\}",service="media"\} 1/,
    );
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    expect(text).toContain('process_cpu_seconds_total');
  });

  it('returns each requested metric once with its current value, without evaluating other metrics', async () => {
    const telemetry = await start();
    telemetry.metrics.counter('jobs_total', 'jobs').inc(2);
    telemetry.metrics.gauge('pool_waiting', 'callers that wait', [], () => {
      throw new Error('asked');
    });
    const ask = async (...names: string[]): Promise<string> => {
      const query = names.map((name) => `name[]=${name}`).join('&');
      return (await fetch(`http://127.0.0.1:${telemetry.port}/metrics?${query}`)).text();
    };
    const shown = await ask(
      'coherence_jobs_total',
      'nobody_knows_this',
      'coherence_jobs_total',
      'jobs_total',
      'nodejs_active_resources_total',
    );
    expect(shown.match(/^# TYPE .*$/gm)).toEqual([
      '# TYPE coherence_jobs_total counter',
      '# TYPE nodejs_active_resources_total gauge',
    ]);
    expect(shown).toContain('coherence_jobs_total{service="media"} 2\n');
    expect((await ask('nobody_knows_this')).trim()).toBe('');
    const readResources = async (): Promise<number> =>
      Number((await ask('nodejs_active_resources_total')).trim().split(' ').at(-1));
    const before = await readResources();
    const timers = Array.from({ length: 1_000 }, () => setInterval(() => {}, 60_000));
    expect((await readResources()) - before).toBeGreaterThan(900);
    for (const timer of timers) clearInterval(timer);
    await telemetry.stop();
  });

  it('returns the existing metric for a name that is already declared', () => {
    const metrics = createMetrics('media');
    expect(metrics.counter('jobs_total', 'jobs', ['type'])).toBe(metrics.counter('jobs_total', 'jobs', ['type']));
  });

  it('evaluates a gauge at each scrape', async () => {
    const metrics = createMetrics('media');
    let waiting = 3;
    metrics.gauge('pool_waiting', 'callers that wait', [], (gauge) => gauge.set(waiting));
    expect((await metrics.render()).text).toContain('coherence_pool_waiting{service="media"} 3');
    waiting = 1;
    expect((await metrics.render()).text).toContain('coherence_pool_waiting{service="media"} 1');
  });
});

describe('names of metrics (rules/operations#metrics)', () => {
  /** Returns the samples of the metric `name`, each without the name. */
  const samplesOf = (text: string, name: string): string[] =>
    text
      .split('\n')
      .flatMap((line) =>
        line.startsWith(`${name}{`) || line.startsWith(`${name}_bucket{`) ? [line.replace(name, '')] : [],
      );

  const declareSome = (options?: { oldNames: boolean }) => {
    const metrics = createMetrics('media', options);
    metrics.counter('jobs_total', 'jobs', ['type']).inc({ type: 'one' }, 2);
    metrics.gauge('pool_waiting', 'callers that wait', [], (gauge) => gauge.inc());
    metrics.histogram('delay_seconds', 'a delay').observe({}, 0.02);
    return metrics;
  };
  const names = ['jobs_total', 'pool_waiting', 'delay_seconds'];

  it('prefixes all metrics except process metrics with coherence_', async () => {
    const { text } = await declareSome().render();
    const found = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);
    expect(found).toEqual(expect.arrayContaining(names.map((name) => `coherence_${name}`)));
    expect(found.filter((name) => !/^(coherence|process|nodejs)_/.test(name))).toEqual([]);
  });

  it.each([undefined, 'application/openmetrics-text'])(
    'adds the old metric names with the same values when enabled, as %s',
    async (accept) => {
      const { text } = await declareSome({ oldNames: true }).render({ accept });
      for (const name of names) {
        expect(samplesOf(text, `coherence_${name}`).length).toBeGreaterThan(0);
        expect(samplesOf(text, name)).toEqual(samplesOf(text, `coherence_${name}`));
      }
      expect(samplesOf(text, 'pool_waiting')).toEqual(['{service="media"} 1']);
      expect(text.match(/^# TYPE process_cpu_seconds/gm)).toHaveLength(1);
      const { text: some } = await declareSome({ oldNames: true }).render({ names: new Set(['jobs_total']) });
      expect(some.match(/^# TYPE .*$/gm)).toEqual(['# TYPE jobs_total counter']);
    },
  );

  it('includes the running release and commit in a metric', async () => {
    const shown = async (settings: object): Promise<string> => {
      const telemetry = createTelemetry({
        service: 'media',
        logger,
        settings: { METRICS_PORT: 0, ...settings },
        checks: {},
      });
      return (await telemetry.metrics.render({ names: new Set(['coherence_build_info']) })).text;
    };
    expect(await shown({ COHERENCE_COMMIT: 'abc123' })).toContain(
      `coherence_build_info{version="${releaseVersion}",commit="abc123",service="media"} 1\n`,
    );
    expect(await shown({})).toContain('commit="unknown"');
  });
});

describe('OpenMetrics (rules/operations#metrics)', () => {
  const sampled = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const openMetrics = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
  const plain = 'text/plain; version=0.0.4; charset=utf-8';

  it.each([
    [undefined, plain],
    ['*/*', plain],
    ['text/plain;version=0.0.4', plain],
    ['application/openmetrics-text;q=0, text/plain', plain],
    ['application/openmetrics-text;version=2.0.0', plain],
    ['application/openmetrics-text;q=0.2, text/plain;q=0.5', plain],
    ['application/openmetrics-text', openMetrics],
    [
      'application/openmetrics-text;version=0.0.1;q=0.7,application/openmetrics-text; version=1.0.0;q=0.8,text/plain;q=0.5',
      openMetrics,
    ],
    [
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
      openMetrics,
    ],
  ])('selects the format by Accept: %s → %s', async (accept, contentType) => {
    const { text, contentType: chosen } = await createMetrics('media').render({ accept });
    expect(chosen).toBe(contentType);
    expect(text.endsWith('\n# EOF\n')).toBe(contentType === openMetrics);
  });

  it('names counter families without the suffix, also after scrapes in another format', async () => {
    const metrics = createMetrics('media');
    metrics.counter('jobs_total', 'jobs').inc(2);
    for (let round = 0; round < 2; round++) {
      const { text } = await metrics.render({ accept: openMetrics });
      expect(text).toContain('# TYPE coherence_jobs counter\ncoherence_jobs_total{service="media"} 2\n');
      expect(text).toContain('# TYPE process_cpu_seconds counter\nprocess_cpu_seconds_total{service="media"} ');
      expect(text).not.toContain('\n\n');
      const { text: old } = await metrics.render();
      expect(old).toContain('# TYPE coherence_jobs_total counter\ncoherence_jobs_total{service="media"} 2\n');
      expect(old).toContain('# TYPE process_cpu_seconds_total counter');
    }
  });

  it('reports the trace of a sampled request as the exemplar of one bucket only, also above the last bucket', async () => {
    const telemetry = await start();
    const red = telemetry.metrics.red('requests', 'requests', ['route']);
    for (const traceparent of [
      undefined,
      'nonsense1',
      sampled.replace(/01$/, '00'),
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    ]) {
      red.observe({ route: '/a' }, 200, 0.02, traceparent);
    }
    const ask = async (accept: string): Promise<string[]> => {
      const url = `http://127.0.0.1:${telemetry.port}/metrics?name[]=coherence_requests_duration_seconds`;
      return (await (await fetch(url, { headers: { accept } })).text())
        .split('\n')
        .filter((line) => line.includes(' # '));
    };
    expect(await ask(openMetrics)).toEqual([]);
    red.observe({ route: '/a' }, 200, 0.02, sampled);
    red.observe({ route: '/b' }, 200, 99, sampled);
    const exemplar = '# {trace_id="0af7651916cd43dd8448eb211c80319c",span_id="b7ad6b7169203331"}';
    expect((await ask(openMetrics)).map((line) => line.replace(/ [\d.]+$/, ''))).toEqual([
      `coherence_requests_duration_seconds_bucket{le="0.025",route="/a",service="media"} 5 ${exemplar} 0.02`,
      `coherence_requests_duration_seconds_bucket{le="+Inf",route="/b",service="media"} 1 ${exemplar} 99`,
    ]);
    expect(await ask(plain)).toEqual([]);
  });
});

describe('metrics of unavailable sources (rules/operations#metrics)', () => {
  it('omits a metric that cannot be read and reports all other metrics', async () => {
    const metrics = createMetrics('media');
    let fails = false;
    metrics.gauge('receipts', 'read from a database', [], (gauge) => {
      if (fails) throw new Error('no database');
      gauge.set(4);
    });
    metrics.counter('others_total', 'others').inc(1);
    expect((await metrics.render()).text).toContain('coherence_receipts{service="media"} 4');
    fails = true;
    const { text } = await metrics.render();
    expect(text).toContain('coherence_others_total{service="media"} 1');
    expect(text).not.toMatch(/^coherence_receipts\{.*\} [1-9]/m);
  });

  it('labels process metrics with the service', async () => {
    expect((await createMetrics('media').render()).text).toMatch(/^process_cpu_seconds_total\{service="media"\}/m);
  });

  it('reports as a metric whether the service is ready', async () => {
    let away = false;
    const telemetry = await start({ nats: () => (away ? Promise.reject(new Error('away')) : Promise.resolve()) });
    expect((await telemetry.metrics.render()).text).toContain('coherence_service_ready{service="media"} 0');
    telemetry.started();
    expect((await telemetry.metrics.render()).text).toContain('coherence_service_ready{service="media"} 1');
    away = true;
    expect((await telemetry.metrics.render()).text).toContain('coherence_service_ready{service="media"} 0');
  });
});

describe('trace context', () => {
  const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  it('inherits trace id and sampling decision of the parent, with a new span id', () => {
    const child = newTraceparent(parent);
    expect(child).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    expect(child).not.toBe(parent);
    expect(readTraceIds(child)).toEqual({ trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: child.slice(36, 52) });
  });

  it.each([
    undefined,
    '',
    'nonsense',
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${'a'.repeat(32)}-${'0'.repeat(16)}-01`,
    `${parent}-x`,
  ])('starts a new trace when the parent is %s', (invalid) => {
    const own = newTraceparent(invalid);
    expect(own).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(own).not.toContain('0af7651916cd43dd8448eb211c80319c');
  });

  it('creates unique request ids', () => {
    expect(newRequestId()).not.toBe(newRequestId());
  });

  it.each([undefined, '', 'a b', 'ä', 'x'.repeat(129), ['one', 'two']])('rejects the request id %j', (given) => {
    expect(readRequestId(given)).toMatch(/^[\da-f-]{36}$/);
    expect(readRequestId('of-a-client')).toBe('of-a-client');
  });
});
