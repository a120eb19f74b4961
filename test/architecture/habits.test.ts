import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readSources, repoDir, type SourceFile } from './sources.ts';

const isTest = (path: string): boolean => path.startsWith('test/') || path.endsWith('.test.ts');
const thisFile = 'test/architecture/habits.test.ts';

/** Module-level variables: one instance per process. */
const processWide = {
  'libs/infrastructure/logger/index.ts': 'standard output',
  'libs/infrastructure/nats/token.ts': 'a page of random bytes',
  'libs/infrastructure/telemetry/metrics.ts': 'the metrics of the process',
  'libs/infrastructure/telemetry/trace-context.ts': 'a page of random bytes',
  'libs/infrastructure/telemetry/tracing.ts': 'the tracer',
  'libs/infrastructure/transfer/index.ts': 'the garbage collector',
  'libs/infrastructure/transfer/pace.ts': 'a clock for all transfers',
  'libs/product/servers/process-environment.ts': 'the names of the settings of services',
  'services/directory/accounts/rules.ts': 'the list of common passwords, loaded when it is needed',
};

/**
 * Files that may use wall-clock time, because they send the time to other processes or compare it with a received time.
 */
const settableClock = {
  'libs/infrastructure/http/capacity.ts': 'deadlines of requests',
  'libs/infrastructure/http/mount.ts': 'deadlines of requests',
  'libs/infrastructure/jobs/attempt.ts': 'deadlines of calls',
  'libs/infrastructure/jobs/delivery.ts': 'when a job is due, as it was told',
  'libs/infrastructure/jobs/outbox.ts': 'when a job is due',
  'libs/infrastructure/jobs/sweeper.ts': 'the age of ids',
  'libs/infrastructure/jobs/uuid.ts': 'the time in an id',
  'libs/infrastructure/nats/bus.ts': 'deadlines of calls',
  'libs/infrastructure/nats/credentials.ts': 'when a JWT expires, as its issuer says',
  'libs/infrastructure/nats/durable-publish.ts': 'deadlines of calls',
  'libs/infrastructure/nats/inbox.ts': 'deadlines of calls',
  'libs/infrastructure/nats/responder.ts': 'deadlines of calls',
  'libs/infrastructure/nats/served-context.ts': 'deadlines of calls',
  'libs/infrastructure/nats/stream-sender.ts': 'deadlines of calls',
  'libs/infrastructure/object-store/client.ts': 'when a session token is read again, as the SDK asks for it',
  'libs/infrastructure/oidc/code-sign-in.ts': 'times in tokens',
  'libs/infrastructure/oidc/sealer.ts': 'times in tokens',
  'libs/infrastructure/oidc/verifier.ts': 'times in tokens',
  'libs/infrastructure/time/index.ts': 'the clock of services',
  'libs/product/realtimekit/api.ts': 'the date in Retry-After',
  'services/agents/chat/handlers.ts': 'deadlines of calls',
  'services/agents/chat/runtime.ts': 'deadlines of calls',
  'services/agents/receipts/handlers.ts': 'deadlines of calls',
  'services/agents/telegram/workers/answer-question.ts': 'deadlines of calls',
  'services/api-gateway/auth.ts': 'deadlines of calls',
  'services/api-gateway/console/sign-in.ts': 'which cookie is the oldest',
  'services/api-gateway/credentials/index.ts': 'times in tokens',
  'services/api-gateway/handlers/media-proxy.ts': 'deadlines of requests',
  'services/api-gateway/handlers/ops/jobs.ts': 'deadlines of calls',
  'services/api-gateway/handlers/ops/overview.ts': 'deadlines of calls',
  'services/api-gateway/handlers/ops/webhooks.ts': 'deadlines of calls',
  'services/api-gateway/handlers/webhook-spool.ts': 'times of files',
  'services/directory/keys/uses.ts': 'when a key was used',
  'services/events/deliveries/endpoint-dispatcher.ts': 'the time in a signature',
  'services/events/delivery-log/workers.ts': 'times of rows',
  'services/events/feed/append.ts': 'times of events',
  'services/events/feed/days.ts': 'the days whose tables are added and dropped',
  'services/events/feed/handlers.ts': 'deadlines of calls',
  'services/events/feed/rules/cursor.ts': 'the hour in a cursor',
  'services/events/feed/workers.ts': 'times of events',
  'services/media/operator/handlers.ts': 'times of objects',
  'services/media/service.ts': 'times of objects',
  'services/media/videohost/youtube.ts': 'the date in Retry-After',
};

/** Tests that sleep because there is no condition to wait for; the list may only shrink. */
const sleeping = [
  'libs/infrastructure/http/body.test.ts',
  'libs/infrastructure/lifecycle/lifecycle.test.ts',
  'libs/infrastructure/outbound/outbound.test.ts',
  'libs/infrastructure/transfer/pace.test.ts',
  'libs/infrastructure/transfer/transfer.test.ts',
  'libs/product/servers/go-tool.test.ts',
  'services/agents/telegram/workers/answer-question.test.ts',
  'test/e2e/audio-memory.drill.test.ts',
  'test/e2e/bulk-import.drill.test.ts',
  'test/e2e/shutdown/constant-load.ts',
  'test/e2e/shutdown/served-platform.ts',
  'test/integration/agents/chat.test.ts',
  'test/integration/agents/runtime.test.ts',
  'test/integration/agents/telegram-crash.drill.test.ts',
  'test/integration/api-gateway/fixture.ts',
  'test/integration/api-gateway/webhooks.test.ts',
  'test/integration/conversations/discovery.test.ts',
  'test/integration/jobs/outage.test.ts',
  'test/integration/jobs/work.test.ts',
  'test/integration/jobs/worker-process.ts',
  'test/integration/media/download.test.ts',
  'test/integration/media/faults.test.ts',
  'test/integration/media/guards.test.ts',
  'test/integration/nats/jetstream.test.ts',
  'test/integration/nats/reconnect.test.ts',
  'test/integration/nats/rpc.test.ts',
  'test/integration/nats/stream.test.ts',
  'test/integration/object-store/object-store.test.ts',
  'test/jest/template-database.ts',
  'test/jest/watchdog-thread.ts', // measures a limit
  'test/security/connections.drill.test.ts',
];

/** Factories return closures, whose lines count as lines of the factory. The linter allows factories 150 lines. */
const factory = /^(create|declare|register|start)/;

/** Returns long named functions; unnamed functions count as lines of the enclosing function. */
function listLongFunctions(): string[] {
  const [program, config] = ['node_modules/.bin/oxlint', 'test/architecture/functions.oxlintrc.json'];
  const folders = ['services', 'libs', 'cli', 'lab', 'tools'];
  const { stdout } = spawnSync(join(repoDir, program), ['-c', config, '--format=json', ...folders], {
    cwd: repoDir,
    encoding: 'utf8',
  });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string; message: string }[] };
  return diagnostics.flatMap(({ filename, message }) => {
    const name = /`([#\w]+)` has too many lines/.exec(message)?.[1];
    return name === undefined ? [] : [`${filename}: ${name}`];
  });
}

function listPaths(pattern: RegExp, files: readonly SourceFile[]): string[] {
  return files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
}

describe('code conventions of CONTRIBUTING.md', () => {
  const files = readSources('services', 'libs', 'cli', 'tools', 'lab', 'test').filter(({ path }) => path !== thisFile);
  const sources = files.filter(({ path }) => !isTest(path));
  const tests = files.filter(({ path }) => isTest(path));

  it('modules have no variables except process-wide singletons', () => {
    const parts = sources.filter(({ path }) => /^(services|libs)\//.test(path));
    expect(listPaths(/^(export )?(let|var) /m, parts).toSorted()).toEqual(Object.keys(processWide));
  });

  it('functions called get… return or throw', () => {
    const parts = sources.filter(({ path }) => /^(services|libs|cli)\//.test(path));
    expect(listPaths(/\bget[A-Z]\w*(<[^>]*>)?\([^)]*\): (Promise<)?[^;{=\n]*\bundefined/, parts)).toEqual([]);
  });

  it('files have 500 lines at most', () => {
    expect(files.filter(({ text }) => text.split('\n').length > 501).map(({ path }) => path)).toEqual([]);
  });

  it('functions have 85 lines at most, apart from factories', () => {
    const found = listLongFunctions();
    expect(found).toContain('services/api-gateway/service.ts: createService');
    expect(found.filter((line) => !factory.test(line.split(': ')[1] ?? ''))).toEqual([]);
  });

  it('durations use a monotonic clock', () => {
    const parts = sources.filter(({ path }) =>
      /^(services|libs(?!\/(?:infrastructure\/process-identity|product\/servers|product\/testing)\/))\//.test(path),
    );
    expect(listPaths(/\bDate\.now\(/, parts).toSorted()).toEqual(Object.keys(settableClock));
    expect(listPaths(/\bDate\.now\(\) [-<>]=? this\.#/, parts)).toEqual([]);
  });

  it('ages of rows are compared with statement_timestamp(), which indexes support', () => {
    const parts = sources.filter(({ path }) => /^(services|libs)\//.test(path) && !path.includes('/migrations/'));
    expect(listPaths(/\b(\w*_at|at) [<>]=? clock_timestamp\(\)/, parts)).toEqual([]);
  });

  it('no test mocks a module', () => {
    expect(listPaths(/\bjest\.(mock|doMock|unstable_mockModule|setMock)\b/, tests)).toEqual([]);
  });

  it('no test is skipped, focused or pending', () => {
    const marks = /\b(?:it|test|describe)\.(?:\w+\.)*(?:skip|only|todo|failing)\b|^\s*(?:f|x)(?:it|test|describe)\b/m;
    expect(listPaths(marks, tests)).toEqual([]);
  });

  it('test titles are in the present tense, and every test is inside a group', () => {
    const outside = /^(?:it|test)(?:\.each\b|\()/m;
    const wished = /^\s*(?:it|test)(?:\.each\([\s\S]*?\))?\(\s*['"`](?:should|shall|must|will)\b/m;
    expect(listPaths(outside, tests)).toEqual([]);
    expect(listPaths(wished, tests)).toEqual([]);
  });

  it('no new test sleeps', () => {
    expect(listPaths(/\bsetTimeout\(|\bsetTimeout\b.* from 'node:timers\/promises'/, tests).toSorted()).toEqual(
      sleeping,
    );
  });
});
