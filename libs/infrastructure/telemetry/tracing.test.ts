import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadConfig, tracingSettings } from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';
import { createLogger } from '#libs/infrastructure/logger';
import { releaseVersion } from '#libs/infrastructure/release';
import { startTraceCollector, type TraceCollector, waitFor } from '#libs/product/testing';
import { createOtlpTracer } from './otlp.ts';
import { findTracer, isTracingOn, errorTypeOf, traceWork, type TracingSettings } from './tracing.ts';

const repoDir = join(import.meta.dirname, '..', '..', '..');
const logger = createLogger({ service: 'test', level: 'silent' });
const sampled = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const unsampled = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

let collector: TraceCollector;
beforeEach(async () => {
  collector = await startTraceCollector();
});
afterEach(() => collector.stop());

const create = (settings: TracingSettings = {}, told = logger) =>
  createOtlpTracer({
    service: 'media',
    settings: { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/`, ...settings },
    logger: told,
  });

describe('the tracer (rules/operations#traces)', () => {
  it('adds a span to the given parent or the active span, or starts a trace', async () => {
    const { tracer, stop } = create();
    const outer = tracer.start('outer', 'server', { 'request.id': 'r-1' }, sampled);
    await outer.run(async () => {
      await Promise.resolve();
      tracer.startChild('inner', 'client', {})?.end({ error: 'unavailable' });
    });
    outer.end({ name: 'GET /a/{id}' });
    tracer.start('alone', 'consumer', {}).end();
    expect(tracer.startChild('nothing', 'client', {})).toBeUndefined();
    await stop();
    const [inner, renamed, alone] = ['inner', 'GET /a/{id}', 'alone'].map((name) =>
      collector.spans.find((span) => span.name === name),
    );
    expect(renamed).toMatchObject({
      service: 'media',
      traceId: sampled.slice(3, 35),
      parentSpanId: sampled.slice(36, 52),
      failed: false,
    });
    expect(renamed?.attributes).toEqual({ 'request.id': 'r-1' });
    expect(inner).toMatchObject({ traceId: renamed?.traceId, parentSpanId: renamed?.spanId, failed: true });
    expect(inner?.attributes).toEqual({ 'error.type': 'unavailable' });
    expect(alone?.parentSpanId).toBeUndefined();
    expect(outer.traceparent).toBe(`00-${renamed?.traceId}-${renamed?.spanId}-01`);
  });

  it('follows the sampling decision of an incoming trace, and samples the configured ratio of new traces', async () => {
    const { tracer, stop } = create({ OTEL_TRACES_SAMPLER_ARG: 0 });
    const dropped = [tracer.start('unsampled', 'server', {}, unsampled), tracer.start('own', 'server', {})];
    for (const span of dropped) span.end();
    tracer.start('sampled', 'server', {}, sampled).end();
    await stop();
    expect(collector.spans.map(({ name }) => name)).toEqual(['sampled']);
    expect(dropped.map(({ traceparent }) => traceparent.slice(-2))).toEqual(['00', '00']);
    expect(dropped[0]?.traceparent).toContain(unsampled.slice(3, 35));
  });

  it('reports errors by code or class, never by message', async () => {
    const { tracer, stop } = create();
    const work = traceWork(tracer.start('work', 'internal', {}), () => Promise.reject(new TypeError('a secret')));
    await expect(work).rejects.toThrow('a secret');
    await stop();
    expect(collector.spans).toMatchObject([{ failed: true, attributes: { 'error.type': 'TypeError' } }]);
    expect(collector.bodies.join('')).not.toContain('a secret');
    expect([errorTypeOf({ code: 'ECONNRESET' }), errorTypeOf('text')]).toEqual(['ECONNRESET', 'error']);
  });

  it('drops traces without a reachable collector, and logs the failure once', async () => {
    const lines = new PassThrough();
    const told = createLogger({ service: 'media', destination: lines });
    const { tracer, stop } = create(
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: 500 },
      told,
    );
    let text = '';
    lines.on('data', (chunk: Buffer) => (text += chunk.toString()));
    tracer.start('lost', 'server', {}).end();
    await waitFor(async () => text.includes('traces cannot be sent'));
    tracer.start('lost too', 'server', {}).end();
    await stop();
    expect(text.split('traces cannot be sent')).toHaveLength(2);
  });
});

describe('variables of the OpenTelemetry specification (rules/operations#traces)', () => {
  /** Returns what a collector receives when a tracer with these settings exports one span. */
  const send = async (settings: TracingSettings, parent?: string) => {
    const { tracer, stop } = create(settings);
    tracer.start('one', 'internal', {}, parent).end();
    await stop();
    return collector;
  };

  it('sets service, release and instance of traces unless the environment overrides them', async () => {
    await send({});
    await send({
      OTEL_SERVICE_NAME: 'renamed',
      OTEL_RESOURCE_ATTRIBUTES:
        'service.name=lost, deployment.environment.name=a%2Cb,service.version=9,k8s.pod.name=p=1,bad=%FF,',
    });
    const [own, given] = collector.spans.map(({ resource }) => resource);
    expect(own).toMatchObject({
      'service.name': 'media',
      'service.namespace': 'coherence',
      'service.version': releaseVersion,
      'service.instance.id': expect.stringMatching(/^[\da-f]{8}-/),
      'telemetry.sdk.language': 'nodejs',
    });
    expect(given).toMatchObject({
      'service.name': 'renamed',
      'service.namespace': 'coherence',
      'service.version': '9',
      'deployment.environment.name': 'a,b',
      'k8s.pod.name': 'p=1',
      bad: '%FF',
    });
    expect(given?.['service.instance.id']).not.toBe(own?.['service.instance.id']);
  });

  it.each<[TracingSettings, { path?: string; contentType?: string; encoding?: string; headers?: object }]>([
    [{}, { path: '/v1/traces', contentType: 'application/json', encoding: '' }],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, { path: '/v1/traces', contentType: 'application/x-protobuf' }],
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
      { contentType: 'application/json' },
    ],
    [{ OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }, { encoding: 'gzip' }],
    [{ OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip', OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'none' }, { encoding: '' }],
    [
      {
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=one,x-both=lost',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-both=two%20words',
      },
      { headers: expect.objectContaining({ 'x-tenant': 'one', 'x-both': 'two words' }) },
    ],
  ])('configures the trace exporter with %j', async (settings, request) => {
    expect((await send(settings)).requests).toEqual([expect.objectContaining(request)]);
  });

  it('uses the address for traces unchanged', async () => {
    const { requests, endpoint } = collector;
    await send({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/own/traces`,
    });
    expect(requests.map(({ path }) => path)).toEqual(['/own/traces']);
  });

  it.each<[TracingSettings['OTEL_TRACES_SAMPLER'], number, [boolean, boolean, boolean]]>([
    ['always_on', 0, [true, true, true]],
    ['always_off', 1, [false, false, false]],
    ['traceidratio', 0, [false, false, false]],
    ['traceidratio', 1, [true, true, true]],
    ['parentbased_always_on', 0, [true, true, false]],
    ['parentbased_always_off', 1, [false, true, false]],
    ['parentbased_traceidratio', 0, [false, true, false]],
    [undefined, 1, [true, true, false]],
  ])(
    'applies the sampler %s with ratio %d to traces without a parent, with a sampled and with an unsampled parent',
    async (name, share, kept) => {
      const { tracer, stop } = create({
        ...(name === undefined ? {} : { OTEL_TRACES_SAMPLER: name }),
        OTEL_TRACES_SAMPLER_ARG: share,
      });
      const spans = [undefined, sampled, unsampled].map((parent) => tracer.start('one', 'internal', {}, parent));
      for (const span of spans) span.end();
      await stop();
      expect(spans.map(({ traceparent }) => traceparent.endsWith('01'))).toEqual(kept);
    },
  );

  it.each<[TracingSettings, boolean]>([
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/t' }, true],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_SDK_DISABLED: true }, false],
  ])('turns tracing on or off with %j: %s', (settings, isOn) => {
    expect(isTracingOn(settings)).toBe(isOn);
  });

  it('reports the variable whose file cannot be read', () => {
    expect(() => create({ OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: '/nowhere/ca.pem' })).toThrow(
      'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: cannot read /nowhere/ca.pem: ENOENT',
    );
  });

  it.each([
    [{ OTEL_RESOURCE_ATTRIBUTES: 'no pairs' }, 'OTEL_RESOURCE_ATTRIBUTES must be name=value pairs'],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'a=50%' }, 'in values, `,` is written %2C'],
    [
      { OTEL_TRACES_SAMPLER: 'jaeger_remote' },
      'OTEL_TRACES_SAMPLER must be one of always_on, always_off, traceidratio',
    ],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/json, http/protobuf'],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER must be one of otlp, none'],
    [{ OTEL_EXPORTER_OTLP_TIMEOUT: '0' }, 'OTEL_EXPORTER_OTLP_TIMEOUT'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'secret-without-name' }, 'OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs'],
  ])('rejects invalid tracing variables at the start: %j', (env, problem) => {
    const load = (): unknown => loadConfig(Type.Object(tracingSettings), env);
    expect(load).toThrow(problem);
    expect(load).not.toThrow('secret-without-name');
  });
});

describe('tracing without a collector (rules/operations#traces)', () => {
  /** Starts the telemetry of a service in a new process and returns the tracer packages that the process has loaded. */
  const load = async (tracing: object): Promise<string> => {
    const program = `
      import { registerHooks } from 'node:module';
      let count = 0;
      registerHooks({ resolve: (specifier, context, next) => { if (/^@opentelemetry\\/(sdk|exporter)/.test(specifier)) count++; return next(specifier, context); } });
      const { createTelemetry, findTracer } = await import('#libs/infrastructure/telemetry');
      const { createLogger } = await import('#libs/infrastructure/logger');
      const telemetry = createTelemetry({
        service: 'media', logger: createLogger({ service: 'media', level: 'silent' }), checks: {}, settings: { METRICS_PORT: 0, ...${JSON.stringify(tracing)} },
      });
      await telemetry.start();
      console.log(count > 0 ? 'loaded' : 'not loaded', findTracer() === undefined ? 'off' : 'on');
      await telemetry.stop();
      process.exit(0);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: repoDir,
    });
    return stdout.trim();
  };

  it('loads no tracing code and creates no tracer', async () => {
    expect(findTracer()).toBeUndefined();
    await expect(load({})).resolves.toBe('not loaded off');
    await expect(load({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint })).resolves.toBe('loaded on');
    await expect(load({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_SDK_DISABLED: true })).resolves.toBe(
      'not loaded off',
    );
  });

  it('runs work without a span directly', async () => {
    await expect(traceWork(undefined, () => Promise.resolve(7))).resolves.toBe(7);
  });
});
