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
  'test/integration/events/faults.drill',
  'test/security/connections.drill',
  'test/e2e/console',
  'test/security/bodies.drill',
  'test/e2e/console-pages.drill',
  'test/security/defaults.drill',
  'test/integration/directory/v1-plans',
  'test/integration/backup/backup.drill',
  'test/e2e/start.drill',
  'test/integration/media/recording-faults',
  'test/e2e/start-external.drill',
  'test/e2e/rotation.drill',
  'test/integration/conversations/plans',
  'test/integration/media/faults',
  'test/security/conversation-data',
  'test/security/generator.drill',
  'test/e2e/identity-tokens',
  'test/e2e/contract-properties.drill',
  'test/integration/api-gateway/webhooks',
  'test/integration/nats/cluster.drill',
  'test/integration/media/recording-trim',
  'test/integration/transcripts/million-rows.drill',
  'test/integration/jobs/crash',
  'test/e2e/console-jobs',
  'test/e2e/console-door',
  'test/integration/jobs/outage',
  'test/integration/servers/tls',
  'test/e2e/demo',
  'test/e2e/documented-errors',
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
