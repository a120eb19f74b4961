import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/logger';
import { startTraceCollector, type TraceCollector, waitFor } from '#libs/testing';
import { createOtlpTracer, type OtlpOptions } from './otlp.ts';
import { findTracer, nameFailure, traceWork } from './tracing.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const logger = createLogger({ service: 'test', level: 'silent' });
const sampled = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const unsampled = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

let collector: TraceCollector;
beforeEach(async () => {
  collector = await startTraceCollector();
});
afterEach(() => collector.stop());

const create = (options: Partial<OtlpOptions> = {}) =>
  createOtlpTracer({ service: 'media', endpoint: `${collector.endpoint}/`, headers: '', share: 1, logger, ...options });

describe('the tracer (rules/operations#traces)', () => {
  it('hangs a span under its parent, under the active one, or begins a trace', async () => {
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
    const [inner, renamed, alone] = ['inner', 'GET /a/{id}', 'alone'].map((name) => collector.spans.find((span) => span.name === name));
    expect(renamed).toMatchObject({ service: 'media', traceId: sampled.slice(3, 35), parentSpanId: sampled.slice(36, 52), failed: false });
    expect(renamed?.attributes).toEqual({ 'request.id': 'r-1' });
    expect(inner).toMatchObject({ traceId: renamed?.traceId, parentSpanId: renamed?.spanId, failed: true });
    expect(inner?.attributes).toEqual({ 'error.type': 'unavailable' });
    expect(alone?.parentSpanId).toBeUndefined();
    expect(outer.traceparent).toBe(`00-${renamed?.traceId}-${renamed?.spanId}-01`);
  });

  it('keeps what the header of a trace begun elsewhere says, and the configured share of its own', async () => {
    const { tracer, stop } = create({ share: 0 });
    const dropped = [tracer.start('unsampled', 'server', {}, unsampled), tracer.start('own', 'server', {})];
    for (const span of dropped) span.end();
    tracer.start('sampled', 'server', {}, sampled).end();
    await stop();
    expect(collector.spans.map(({ name }) => name)).toEqual(['sampled']);
    expect(dropped.map(({ traceparent }) => traceparent.slice(-2))).toEqual(['00', '00']);
    expect(dropped[0]?.traceparent).toContain(unsampled.slice(3, 35));
  });

  it('tells of failures by code or class, never by message', async () => {
    const { tracer, stop } = create();
    const work = traceWork(tracer.start('work', 'internal', {}), () => Promise.reject(new TypeError('a secret')));
    await expect(work).rejects.toThrow('a secret');
    await stop();
    expect(collector.spans).toMatchObject([{ failed: true, attributes: { 'error.type': 'TypeError' } }]);
    expect(collector.bodies.join('')).not.toContain('a secret');
    expect([nameFailure({ code: 'ECONNRESET' }), nameFailure('text')]).toEqual(['ECONNRESET', 'error']);
  });

  it('goes on without a collector, and says so once', async () => {
    const lines = new PassThrough();
    const told = createLogger({ service: 'media', destination: lines });
    const { tracer, stop } = create({ endpoint: 'http://127.0.0.1:9', logger: told, exportTimeoutMs: 500 });
    let text = '';
    lines.on('data', (chunk: Buffer) => (text += chunk.toString()));
    tracer.start('lost', 'server', {}).end();
    await waitFor(async () => text.includes('traces cannot be sent'));
    tracer.start('lost too', 'server', {}).end();
    await stop();
    expect(text.split('traces cannot be sent')).toHaveLength(2);
  });
});

describe('without a collector (rules/operations#traces)', () => {
  /** A process that starts the telemetry of a service and prints which packages of the tracer it has loaded. */
  const load = async (tracing: object): Promise<string> => {
    const program = `
      import { registerHooks } from 'node:module';
      let count = 0;
      registerHooks({ resolve: (specifier, context, next) => { if (/^@opentelemetry\\/(sdk|exporter)/.test(specifier)) count++; return next(specifier, context); } });
      const { createTelemetry, findTracer } = await import('#libs/telemetry');
      const { createLogger } = await import('#libs/logger');
      const telemetry = createTelemetry({
        service: 'media', logger: createLogger({ service: 'media', level: 'silent' }), checks: {}, settings: { METRICS_PORT: 0, ...${JSON.stringify(tracing)} },
      });
      await telemetry.start();
      console.log(count > 0 ? 'loaded' : 'not loaded', findTracer() === undefined ? 'off' : 'on');
      await telemetry.stop();
      process.exit(0);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: repoDir });
    return stdout.trim();
  };

  it('loads nothing of it, and has no tracer', async () => {
    expect(findTracer()).toBeUndefined();
    await expect(load({})).resolves.toBe('not loaded off');
    await expect(load({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint })).resolves.toBe('loaded on');
  });

  it('runs the work of a span that is not there as it is', async () => {
    await expect(traceWork(undefined, () => Promise.resolve(7))).resolves.toBe(7);
  });
});
