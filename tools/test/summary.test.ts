import { describe, expect, it } from '@jest/globals';
import { type JestResult, listFailures, summarize } from './summary.ts';

const green: JestResult = {
  success: true,
  numPassedTests: 12,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  numRuntimeErrorTestSuites: 0,
  testResults: [],
};

describe('summary of npm test', () => {
  it('counts passed and failed tests', () => {
    expect(summarize(green, 0, [])).toEqual({ passed: 12, failed: 0, problems: [] });
    expect(summarize({ ...green, success: false, numFailedTests: 3 }, 1, [])).toMatchObject({ passed: 12, failed: 3 });
  });

  it.each([
    ['a failed check', green, 0, ['types (tsc)'], 1],
    ['a crash without a result', undefined, 134, [], 1],
    ['a status that no test explains', green, 1, [], 1],
    ['two files that could not run', { ...green, success: false, numRuntimeErrorTestSuites: 2 }, 1, [], 2],
    ['a skipped test', { ...green, numPendingTests: 1 }, 0, [], 1],
    ['a run without tests', { ...green, numPassedTests: 0 }, 0, [], 1],
  ])('counts %s as a failed test', (_what, result, status, steps, failed) => {
    expect(summarize(result, status, steps).failed).toBe(failed);
  });

  it('ignores unselected tests when tests are selected by name, unless no test was found', () => {
    const isSelection = true;
    expect(summarize({ ...green, numPendingTests: 9 }, 0, [], { isSelection }).failed).toBe(0);
    expect(summarize({ ...green, numPassedTests: 0, numPendingTests: 9 }, 0, [], { isSelection }).failed).toBe(1);
  });

  it('lists failed tests, and test files that could not run', () => {
    const testResults = [
      { name: '/repo/a.test.ts', status: 'passed', assertionResults: [{ status: 'passed', fullName: 'a holds' }] },
      {
        name: '/repo/test/b.test.ts',
        status: 'failed',
        assertionResults: [
          { status: 'passed', fullName: 'b holds' },
          { status: 'failed', fullName: 'b breaks' },
        ],
      },
      { name: '/repo/c.test.ts', status: 'failed', assertionResults: [] },
    ];
    expect(listFailures({ ...green, testResults }, '/repo')).toEqual(['test/b.test.ts: b breaks', 'c.test.ts']);
  });
});
