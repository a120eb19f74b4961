/** The order of the test files on a machine that has not run them yet: what takes long comes first, so that no worker is left alone with it. */
import sequencer from '@jest/test-sequencer';

/** Its types are those of its CommonJS form; what is imported is the class itself. */
const Sequencer = sequencer as unknown as typeof sequencer.default;
type Tests = Parameters<InstanceType<typeof Sequencer>['sort']>[0];

/** Files of most of a minute or more, the longest first. */
const longest = [
  'test/chaos/chaos',
  'test/security/generator',
  'test/e2e/v1-access',
  'test/integration/transcripts/audio-transcription',
  'test/security/defaults',
  'test/integration/media/recording-faults',
  'test/integration/conversations/plans',
  'test/integration/transcripts/million-rows',
  'test/security/connections',
  'test/e2e/v1-people-erase',
  'test/security/bombs',
  'test/security/bodies',
  'test/e2e/people-merge-killed',
  'test/e2e/webhook-faults',
  'test/e2e/rotation',
  'test/integration/backup/backup',
  'test/e2e/console-pages',
  'test/e2e/console',
  'test/e2e/upgrade',
  'test/e2e/point-in-time',
  'test/integration/directory/v1-plans',
  'test/integration/nats/cluster',
  'test/integration/events/faults',
  'test/e2e/start-external',
  'test/integration/media/videohost-publish',
  'test/integration/nats/stream',
  'test/integration/media/faults',
  'test/security/conversation-data',
  'test/e2e/audio-memory',
  'test/integration/directory/cli',
  'test/e2e/shutdown',
  'test/integration/conversations/data-size',
  'test/e2e/documented-errors',
  'test/e2e/chat-page-access',
  'test/e2e/start',
].map((name) => `/${name}.test.ts`);

export default class LongestFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    // oxlint-disable-next-line unicorn/no-array-sort -- jest's own, of no array: by what an earlier run took, else by size
    const sorted = [...(await super.sort(tests))];
    if (sorted.every(({ duration }) => duration !== undefined)) return sorted; // after a run of a few files the rest would be sorted by size
    return sorted.toSorted((one, other) => rank(one.path) - rank(other.path));
  }
}

/** The tools of the chart's and the load tests are built while the first tests run. */
function rank(path: string): number {
  const place = longest.findIndex((name) => path.endsWith(name));
  if (place >= 0) return place;
  if (/\/test\/(helm|load)\//.test(path)) return 101;
  return path.includes('/test/') ? 100 : 102;
}
