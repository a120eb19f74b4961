/**
 * Traces and logs of a whole platform, as an operator receives them (rules/operations#traces, rules/operations#logs).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { releaseVersion } from '#libs/infrastructure/release';
import type { CollectedSpan } from '#libs/product/testing';
import { eventually } from '../../e2e/test-platform.ts';
import { playMeeting, playTraffic, secretWords, startSignals } from './signals.ts';
import { isClusterMetric, listExpressions, readExpression, readSamples } from './promql.ts';

type LogLine = Readonly<Record<string, unknown>>;

let signals: Awaited<ReturnType<typeof startSignals>>;
let meeting: Awaited<ReturnType<typeof playMeeting>>;
let token: string;
beforeAll(async () => {
  signals = await startSignals(import.meta.url);
  meeting = await playMeeting(signals);
  ({ token } = await playTraffic(signals, meeting.id));
});
afterAll(() => signals.stop());

async function readLogLines(): Promise<LogLine[]> {
  const text = await signals.platform.readLogs();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);
}

/** Waits until the trace contains spans with all these names, and returns its spans. */
async function traceOf(root: (span: CollectedSpan) => boolean, names: readonly string[]): Promise<CollectedSpan[]> {
  let found: CollectedSpan[] = [];
  await eventually(async () => {
    const { spans } = signals.collector;
    const traceIds = spans.filter(root).map(({ traceId }) => traceId);
    const traces = traceIds.map((traceId) => spans.filter((span) => span.traceId === traceId));
    const whole = traces.find((trace) =>
      names.every((name) => trace.some((span) => `${span.service}: ${span.name}` === name)),
    );
    if (whole === undefined) {
      const seen = traces.map((trace) => trace.map((span) => `${span.service}: ${span.name}`).join('\n'));
      throw new Error(`no trace has all of ${names.join(', ')}; seen:\n${seen.join('\n\n')}`);
    }
    found = whole;
  });
  return found;
}

/** Returns the spans from the given one up to the root of the trace. */
function ancestorsOf(span: CollectedSpan, trace: readonly CollectedSpan[]): string[] {
  const parent = trace.find(({ spanId }) => spanId === span.parentSpanId);
  return [`${span.service}: ${span.name}`, ...(parent === undefined ? [] : ancestorsOf(parent, trace))];
}

describe('traces (rules/operations#traces)', () => {
  const recordedRoute = 'POST /api/coherence/conversations/{conversation_id}/recorded';

  it('shows a read as one trace: gateway, NATS, service, SQL', async () => {
    const route = 'GET /api/coherence/conversations/{conversation_id}';
    const trace = await traceOf(
      (span) => span.name === route,
      [
        'api-gateway: conversations.conversations.get',
        'conversations: conversations.conversations.get',
        'conversations: sql conversations.get',
      ],
    );
    const statement = trace.find((span) => span.name === 'sql conversations.get');
    expect(statement === undefined ? [] : ancestorsOf(statement, trace)).toEqual([
      'conversations: sql conversations.get',
      'conversations: conversations.conversations.get',
      'api-gateway: conversations.conversations.get',
      `api-gateway: ${route}`,
    ]);
  });

  it('shows the work after a /recorded call in its trace: the job, the provider calls, the rows', async () => {
    const trace = await traceOf(
      (span) => span.name === recordedRoute,
      ['conversations: enqueue transcripts.transcript-import', 'transcripts: job transcripts.transcript-import'],
    );
    const { hostname, port } = new URL(signals.provider.baseUrl);
    const calls = trace.filter(
      ({ attributes: of }) => of['server.address'] === hostname && of['server.port'] === Number(port),
    );
    expect(calls.length).toBeGreaterThanOrEqual(2);
    for (const call of [
      ...calls,
      ...trace.filter((span) => span.service === 'transcripts' && span.name.startsWith('sql ')),
    ]) {
      expect(ancestorsOf(call, trace)).toEqual(
        expect.arrayContaining([
          'transcripts: job transcripts.transcript-import',
          'conversations: enqueue transcripts.transcript-import',
          `api-gateway: ${recordedRoute}`,
        ]),
      );
    }
    expect(trace.some((span) => span.service === 'transcripts' && span.name.startsWith('sql '))).toBe(true);
  });

  it('shows an upload down to the object store in one trace', async () => {
    const trace = await traceOf(
      (span) => span.name === 'POST /api/coherence/conversations/{conversation_id}/audio',
      ['media: POST /internal/conversations/{id}/audio', 'media: s3 PutObject'],
    );
    const stored = trace.find((span) => span.name === 's3 PutObject');
    expect(stored === undefined ? [] : ancestorsOf(stored, trace)).toContain(
      'media: POST /internal/conversations/{id}/audio',
    );
  });

  it('shows a chat down to the language model, and a Telegram update from its webhook to the model, as one trace each', async () => {
    const asked = await traceOf(
      (span) => span.name === 'POST /api/chat/{agent_slug}/message',
      ['agents: agents.chat.send', 'agents: llm chat'],
    );
    const told = await traceOf(
      (span) => span.name === 'POST /api/hook/agents/{slug}',
      ['agents: job agents.work-chat', 'agents: llm chat'],
    );
    const model = (trace: readonly CollectedSpan[]): string[] => {
      const span = trace.find(({ name }) => name === 'llm chat');
      return span === undefined ? [] : ancestorsOf(span, trace);
    };
    expect(model(asked)).toContain('agents: agents.chat.send');
    expect(model(told)).toEqual(
      expect.arrayContaining(['agents: job agents.work-chat', 'api-gateway: POST /api/hook/agents/{slug}']),
    );
  });

  /** Matches any non-empty value of an attribute that the OpenTelemetry conventions require. */
  const anyText = expect.stringMatching(/./) as unknown;
  const anyPort = expect.any(Number) as unknown;
  const named = (name: string | RegExp) => (span: CollectedSpan) =>
    typeof name === 'string' ? span.name === name : name.test(span.name);
  it.each<[string, (span: CollectedSpan) => boolean, Record<string, unknown>]>([
    [
      'a served HTTP request',
      named('GET /api/coherence/conversations/{conversation_id}'),
      {
        'http.request.method': 'GET',
        'url.path': expect.stringMatching(/^\/api\/coherence\/conversations\/\d+$/),
        'url.scheme': 'http',
        'http.route': '/api/coherence/conversations/{conversation_id}',
        'http.response.status_code': 200,
        'server.address': '127.0.0.1',
        'server.port': anyPort,
      },
    ],
    [
      'an HTTP request without a route',
      named('PUT'),
      { 'http.request.method': 'PUT', 'url.path': '/api/nowhere', 'http.response.status_code': 404 },
    ],
    [
      'an outgoing HTTP request',
      (span) => span.service === 'transcripts' && span.name === 'GET',
      {
        'http.request.method': 'GET',
        'url.full': expect.stringMatching(/^http:\/\/[\d.]+:\d+\/REDACTED$/),
        'server.address': anyText,
        'server.port': anyPort,
        'http.response.status_code': 200,
      },
    ],
    [
      'an RPC on the side of its caller',
      (span) => span.service === 'api-gateway' && span.name === 'conversations.conversations.get',
      {
        'rpc.system.name': 'nats',
        'rpc.method': 'conversations.conversations.get',
        'rpc.response.status_code': 'ok',
        'server.address': anyText,
        'server.port': anyPort,
      },
    ],
    [
      'a statement',
      named('sql conversations.get'),
      {
        'db.system.name': 'postgresql',
        'db.namespace': expect.stringMatching(/^[^.]+\.conversations$/),
        'db.operation.name': anyText,
        'db.query.summary': 'conversations.get',
        'server.address': anyText,
        'server.port': anyPort,
      },
    ],
    [
      'a request to the object store',
      named('s3 PutObject'),
      {
        'rpc.system.name': 'aws-api',
        'rpc.method': 'S3/PutObject',
        'aws.s3.bucket': anyText,
        'server.address': anyText,
        'server.port': anyPort,
      },
    ],
    [
      'a job that is handed over',
      named('enqueue transcripts.transcript-import'),
      {
        'messaging.system': 'nats',
        'messaging.operation.name': 'create',
        'messaging.operation.type': 'create',
        'messaging.destination.name': 'jobs.transcripts.transcript-import',
      },
    ],
    [
      'an attempt of a job',
      named('job transcripts.transcript-import'),
      {
        'messaging.system': 'nats',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': 'jobs.transcripts.transcript-import',
        'messaging.message.id': anyText,
      },
    ],
    [
      'a question to the language model',
      named('llm chat'),
      {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': anyText,
        'gen_ai.response.model': anyText,
        'gen_ai.usage.input_tokens': expect.any(Number),
        'gen_ai.usage.output_tokens': expect.any(Number),
        'server.address': anyText,
        'server.port': anyPort,
      },
    ],
  ])('names attributes of %s according to OpenTelemetry', async (_what, isMeant, attributes) => {
    await eventually(async () => {
      const spans = signals.collector.spans.filter(isMeant);
      expect(spans.map((span) => span.attributes)).toContainEqual(expect.objectContaining(attributes));
    });
  });

  it('adds server addresses without port or path to spans, and the process to every span', () => {
    const { spans } = signals.collector;
    const addresses = spans
      .map((span) => span.attributes['server.address'])
      .filter((address) => typeof address === 'string');
    expect(addresses.filter((address) => /^[^:]+:\d+$|\//.test(address))).toEqual([]);
    expect(spans.filter(({ resource }) => resource['service.version'] !== releaseVersion)).toEqual([]);
    const instances = Map.groupBy(spans, (span) => span.service);
    for (const [, of] of instances)
      expect(new Set(of.map(({ resource }) => resource['service.instance.id'])).size).toBe(1);
  });

  it('sends the configured headers to the trace collector', () => {
    expect([...signals.collector.tenants]).toEqual([secretWords.collectorTenant]);
  });

  it('creates no trace for the background work of a process', () => {
    const roots = signals.collector.spans.filter((span) => span.parentSpanId === undefined).map((span) => span.name);
    expect(roots.filter((name) => name.startsWith('sql ') || name.startsWith('s3 '))).toEqual([]);
  });
});

describe('logs (rules/operations#logs)', () => {
  it('logs one line per request, with request id, trace id, span id, route template and time', async () => {
    await eventually(async () => {
      const lines = (await readLogLines()).filter(
        (line) => line['service'] === 'api-gateway' && line['requestId'] === meeting.requestId,
      );
      expect(lines.filter((line) => line['msg'] === 'request')).toEqual([
        expect.objectContaining({
          level: 'info',
          trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
          span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
          method: 'POST',
          route: '/api/coherence/conversations/{conversation_id}/recorded',
          status: 200,
          durationMs: expect.any(Number),
        }),
      ]);
    });
  });

  it('logs one line per job attempt, with the request and trace that enqueued the job', async () => {
    await eventually(async () => {
      const lines = await readLogLines();
      const request = lines.find((line) => line['requestId'] === meeting.requestId && line['msg'] === 'request');
      const attempts = lines.filter(
        (line) => line['job'] === 'transcripts.transcript-import' && line['msg'] === 'job attempt',
      );
      expect(attempts).toEqual([
        expect.objectContaining({
          service: 'transcripts',
          requestId: meeting.requestId,
          trace_id: request?.['trace_id'],
          span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
          jobId: expect.any(String),
          attempt: 1,
          outcome: 'succeeded',
        }),
      ]);
    });
  });

  it('adds trace id and span id to every log line with a request id', async () => {
    const lines = (await readLogLines()).filter((line) => line['requestId'] !== undefined);
    expect(lines.length).toBeGreaterThan(10);
    const lacksIds = ({ trace_id: trace, span_id: span }: LogLine): boolean =>
      !/^[0-9a-f]{32}$/.test(String(trace)) || !/^[0-9a-f]{16}$/.test(String(span));
    expect(lines.filter(lacksIds)).toEqual([]);
  });

  it('logs and traces contain no token, key, password, body or transcript text', async () => {
    const all = `${await signals.platform.readLogs()}\n${signals.collector.bodies.join('\n')}`;
    const { sharedToken, loginSecret, runtime } = signals.platform;
    const { S3_SECRET_ACCESS_KEY: storeKey = '' } = runtime.settings;
    const secrets = { ...secretWords, token, sharedToken, loginSecret, storeKey };
    expect(all).toContain('/api/hook/agents/guide');
    for (const [name, secret] of Object.entries(secrets))
      expect([name, secret.length > 0 && all.includes(secret)]).toEqual([name, false]);
  });
});

describe('metrics (rules/operations#metrics)', () => {
  /** Added by Prometheus. */
  const addedLabels = new Set(['namespace', 'pod']);
  /** Labels that Prometheus adds itself; a metric with such a label would get another label name. */
  const reservedLabels = ['job', 'instance', 'namespace', 'pod', 'container', 'endpoint'];

  it('publishes every metric and label that an alert or a dashboard uses', async () => {
    await eventually(async () => {
      const labelsOf = new Map<string, Set<string>>();
      for (const { metric, labels } of readSamples(await signals.scrape())) {
        const known = labelsOf.get(metric) ?? new Set();
        for (const label of Object.keys(labels)) known.add(label);
        labelsOf.set(metric, known);
      }
      const missing = listExpressions().flatMap(({ place, expr }) => {
        const { selectors, grouping } = readExpression(expr);
        if (selectors.every(({ metric }) => isClusterMetric(metric))) return [];
        const lacks = (metric: string, label: string): boolean =>
          !addedLabels.has(label) && labelsOf.get(metric)?.has(label) !== true;
        const unknown = selectors
          .filter(({ metric }) => !labelsOf.has(metric))
          .map(({ metric }) => `${place}: ${metric}`);
        const unlabelled = selectors.flatMap(({ metric, labels }) =>
          [...labels, ...grouping]
            .filter((label) => lacks(metric, label))
            .map((label) => `${place}: ${metric}{${label}}`),
        );
        return [...unknown, ...unlabelled];
      });
      expect(missing).toEqual([]);
    });
  });

  it.each([
    [
      'coherence_http_requests_total',
      { service: 'api-gateway', route: '/api/coherence/conversations/{conversation_id}', outcome: '200' },
    ],
    ['coherence_build_info', { service: 'events', version: releaseVersion, commit: 'unknown' }],
    [
      'coherence_rpc_server_total',
      { service: 'conversations', subject: 'conversations.conversations.get', outcome: 'ok' },
    ],
    ['coherence_job_queue_pending', { service: 'transcripts', type: 'transcripts.transcript-import' }],
    ['coherence_job_queue_dead', { service: 'media', type: 'media.delete-blob' }],
    ['coherence_job_oldest_age_seconds', { service: 'agents', type: 'agents.work-chat' }],
    [
      'coherence_job_attempts_total',
      { service: 'transcripts', type: 'transcripts.transcript-import', outcome: 'succeeded' },
    ],
    ['coherence_outbox_age_seconds', { service: 'conversations' }],
    [
      'coherence_webhook_receipts_recent',
      { service: 'conversations', source: 'booking', outcome: 'rejected_signature' },
    ],
    ['coherence_webhook_receipts_recent', { service: 'agents', source: 'telegram', outcome: 'answered' }],
    [
      'coherence_webhook_receipts_last_hour',
      { service: 'conversations', source: 'booking', outcome: 'rejected_signature' },
    ],
    ['coherence_webhook_receipts_last_hour', { service: 'agents', source: 'telegram', outcome: 'answered' }],
    ['coherence_webhook_intake_total', { service: 'api-gateway', stored: 'broker' }],
    ['coherence_webhook_intake_total', { service: 'api-gateway', stored: 'lost' }],
    ['coherence_webhook_spool_entries', { service: 'api-gateway' }],
    ['coherence_webhook_spool_max_bytes', { service: 'api-gateway' }],
    ['coherence_stream_max_bytes', { service: 'api-gateway', stream: 'WEBHOOKS' }],
    ['coherence_stream_bytes', { service: 'api-gateway', stream: 'EVENTS' }],
    ['coherence_transcript_imports_total', { service: 'transcripts', status: 'imported' }],
    ['coherence_transcript_imports_total', { service: 'transcripts', status: 'transcript_window_missing' }],
    ['coherence_transcript_imports_overdue', { service: 'transcripts' }],
    ['coherence_database_pool_connections', { service: 'directory', state: 'busy' }],
    ['nodejs_eventloop_lag_p99_seconds', { service: 'directory' }],
    ['coherence_llm_tokens_total', { service: 'agents', purpose: 'chat', direction: 'out' }],
    ['coherence_llm_requests_duration_seconds_count', { service: 'agents', purpose: 'chat' }],
    ['coherence_media_uploads_running', { service: 'media' }],
    ['coherence_object_store_requests_total', { service: 'media', operation: 'PutObject', outcome: 'ok' }],
    ['coherence_object_store_requests_total', { service: 'media', operation: 'HeadBucket', outcome: 'missing' }],
    [
      'coherence_object_store_requests_total',
      { service: 'media', operation: 'GetBucketLifecycleConfiguration', outcome: 'unsupported' },
    ],
  ])('metrics show %s of %j', async (metric, labels) => {
    await eventually(async () => {
      const found = readSamples(await signals.scrape()).filter((sample) => sample.metric === metric);
      expect(found).toContainEqual({ metric, labels: expect.objectContaining(labels) });
    });
  });

  it('reports no waiting database requests while connections are idle, not even the metrics request', async () => {
    await eventually(async () => {
      const waiting = [
        ...(await signals.scrape()).matchAll(/^coherence_database_pool_waiting\{service="(.+)"\} (\d+)$/gm),
      ];
      expect(Object.fromEntries(waiting.map(([, service, count]) => [service, count]))).toEqual({
        agents: '0',
        conversations: '0',
        directory: '0',
        events: '0',
        media: '0',
        transcripts: '0',
      });
    });
  });

  it('uses no ids and no label names reserved by Prometheus as metric labels, and few series per metric', async () => {
    const samples = readSamples(await signals.scrape()).filter(({ metric }) => metric !== 'nodejs_version_info');
    const looksLikeId = /[0-9a-f]{8}-[0-9a-f]{4}|[0-9a-f]{16}|^[0-9]{4,}$|\/[0-9]+(\/|$)|@|\s(?!\S)/i;
    const named = samples.flatMap(({ metric, labels }) =>
      Object.entries(labels).map(([label, value]) => `${metric} ${label} ${value}`),
    );
    const plain = named.filter((line) => !/ (le|quantile|objectId) /.test(line));
    expect([...new Set(plain)].filter((line) => looksLikeId.test(line.split(' ').slice(2).join(' ')))).toEqual([]);
    expect(
      samples.flatMap(({ labels }) => Object.keys(labels)).filter((label) => reservedLabels.includes(label)),
    ).toEqual([]);
    const bySource = Map.groupBy(samples, ({ metric, labels }) => `${metric} of ${labels['service']}`);
    // Bounded by the number of routes and subjects, outcomes, and buckets.
    expect([...bySource].filter(([, series]) => series.length > 2_000).map(([name]) => name)).toEqual([]);
  });
});
