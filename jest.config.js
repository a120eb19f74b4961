/**
 * Tiers: unit (beside the code, no servers), integration, e2e and security (real PostgreSQL, NATS and S3, started once
 * per run). `npm test` runs all but `release`, `helm` and `load`, which `npm run test:release` runs (tools/test).
 * Drills belong to their tier, or to `release` in that run.
 */
const isRelease = process.env.TEST_RELEASE === 'true';

const releaseFiles = [String.raw`\.release\.test\.ts$`, ...(isRelease ? [String.raw`\.drill\.test\.ts$`] : [])];
const tier = (displayName, testMatch) => ({
  displayName,
  testMatch,
  testEnvironment: '<rootDir>/test/jest/environment.ts',
  runtime: '<rootDir>/test/jest/runtime.ts',
  transform: {},
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/.data/', ...(displayName === 'release' ? [] : releaseFiles)],
  modulePathIgnorePatterns: ['<rootDir>/.data/'],
  watchPathIgnorePatterns: ['<rootDir>/.data/'],
});

const servers = {
  globalSetup: '<rootDir>/test/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/jest/global-teardown.ts',
};

export default {
  projects: [
    tier('unit', [
      '<rootDir>/libs/**/*.test.ts',
      '<rootDir>/clients/**/*.test.ts',
      '<rootDir>/services/**/*.test.ts',
      '<rootDir>/cli/**/*.test.ts',
      '<rootDir>/lab/**/*.test.ts',
      '<rootDir>/tools/**/*.test.ts',
      '<rootDir>/test/architecture/**/*.test.ts',
    ]),
    { ...tier('integration', ['<rootDir>/test/integration/**/*.test.ts']), ...servers },
    tier('helm', ['<rootDir>/test/helm/**/*.test.ts']),
    { ...tier('e2e', ['<rootDir>/test/e2e/**/*.test.ts']), ...servers },
    { ...tier('security', ['<rootDir>/test/security/**/*.test.ts']), ...servers },
    {
      ...tier('release', [
        '<rootDir>/test/**/*.release.test.ts',
        ...(isRelease ? ['<rootDir>/test/**/*.drill.test.ts'] : []),
      ]),
      ...servers,
    },
    tier('load', ['<rootDir>/test/load/**/*.test.ts']),
    tier('chaos', ['<rootDir>/test/chaos/**/*.test.ts']),
  ],
  testSequencer: '<rootDir>/test/jest/sequencer.ts',
  reporters: ['default', '<rootDir>/test/jest/contract-reporter.ts'],
  testTimeout: 240_000, // tests on a machine several times slower than usual must pass, and `waitFor` must time out first
  maxWorkers: 4, // more workers than the two cores, since many tests mostly wait
  workerIdleMemoryLimit: '1.5GB',
};
