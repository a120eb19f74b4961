/** Orders the test files on a machine without timings: slow ones first, so that no worker finishes late with one. */
import sequencer from '@jest/test-sequencer';

/** The types describe the CommonJS form; the import is the class itself. */
const Sequencer = sequencer as unknown as typeof sequencer.default;
type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0];

/** Files that take twenty seconds or more, slowest first. */
const longest = [
  'test/chaos/chaos.release',
  'test/e2e/shutdown.release',
  'test/e2e/upgrade.release',
  'test/e2e/backup.release',
  'test/e2e/point-in-time.release',
  'test/integration/backup/backup.release',
  'test/e2e/contract-properties.drill',
  'test/e2e/webhook-faults',
  'test/security/conversation-data',
  'test/e2e/v1-access.drill',
  'test/integration/events/faults.drill',
  'test/security/bombs.drill',
  'test/integration/nats/cluster.drill',
  'test/integration/directory/v1-plans',
  'test/integration/servers/tls',
  'test/security/bodies.drill',
  'test/integration/backup/backup.drill',
  'test/e2e/start.drill',
  'test/security/defaults.drill',
  'test/e2e/chat-page-access',
  'test/e2e/documented-errors',
  'test/integration/nats/credentials',
  'test/e2e/scopes-table',
  'test/security/connections.drill',
  'test/e2e/console-at-work',
  'test/integration/jobs/crash',
  'test/integration/transcripts/audio-transcription',
  'test/integration/api-gateway/webhooks',
  'test/integration/conversations/plans',
  'test/integration/media/recording-faults',
  'test/e2e/console-pages.drill',
  'test/integration/media/recording-trim',
  'test/integration/jobs/outage',
  'test/e2e/people-erasure',
  'test/integration/transcripts/million-rows.drill',
  'test/e2e/audio-memory.drill',
  'test/integration/media/guards',
  'test/security/webhooks',
  'test/integration/api-gateway/long-polls',
  'test/integration/events/feed',
  'test/e2e/identity-tokens',
  'test/integration/nats/lanes',
  'test/integration/servers/postgres',
  'test/integration/directory/own-login',
  'test/e2e/webhook-deliveries',
  'test/e2e/video',
  'test/integration/conversations/booking-cancellations',
  'test/e2e/console',
  'test/e2e/ops-missing',
].map((name) => `/${name}.test.ts`);

export default class LongestFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    // oxlint-disable-next-line unicorn/no-array-sort -- jest's own, of no array: by what an earlier run took, else by size
    const sorted = [...(await super.sort(tests))];
    if (sorted.every(({ duration }) => duration !== undefined)) return sorted; // After a partial run, files without timings would be sorted by size.
    return sorted.toSorted((one, other) => rank(one.path) - rank(other.path));
  }
}

/**
 * Returns the position of a file in the order. Chart and load tests start late, because their tools are built during
 * the first tests.
 */
function rank(path: string): number {
  const place = longest.findIndex((name) => path.endsWith(name));
  if (place >= 0) return place;
  if (/\/test\/(helm|load)\//.test(path)) return 101;
  return path.includes('/test/') ? 100 : 102;
}
