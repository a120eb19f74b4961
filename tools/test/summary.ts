import { relative } from 'node:path';

/** The fields of Jest's result (`--json`) that are used. */
export interface JestResult {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  /** Number of test files that could not run. */
  numRuntimeErrorTestSuites: number;
  testResults: readonly TestFile[];
}

interface TestFile {
  name: string;
  status: string;
  assertionResults: readonly { status: string; fullName: string }[];
}

export interface Summary {
  passed: number;
  failed: number;
  /** Descriptions of failures that are not single failed tests. */
  problems: string[];
}

/**
 * Counts passed and failed tests. A failed check, a test file that could not run, a skipped test and a crash of Jest
 * count as one failure each. With a selection by name, tests that Jest skips are not failures.
 */
export function summarize(
  result: JestResult | undefined,
  jestStatus: number,
  failedSteps: readonly string[],
  { isSelection = false } = {},
): Summary {
  const problems = failedSteps.map((title) => `check "${title}"`);
  const passed = result?.numPassedTests ?? 0;
  let failedTests = result?.numFailedTests ?? 0;
  if (result === undefined) problems.push(`jest gave no result (status ${jestStatus})`);
  else {
    for (const [count, what] of [
      [result.numRuntimeErrorTestSuites, 'test files that could not run'],
      [isSelection ? 0 : result.numPendingTests + result.numTodoTests, 'tests that were skipped'],
    ] as const) {
      if (count === 0) continue;
      problems.push(`${count} ${what}`);
      failedTests += count - 1;
    }
    if (passed === 0 && result.success) problems.push('no test ran');
    if (jestStatus !== 0 && failedTests + problems.length === 0) problems.push(`jest ended with status ${jestStatus}`);
  }
  return { passed, failed: failedTests + problems.length, problems };
}

/** Returns the names of failed tests, and of files that could not run. */
export function listFailures({ testResults }: JestResult, root: string): string[] {
  return testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults }) => {
      const file = relative(root, name);
      const failed = assertionResults.filter((test) => test.status === 'failed');
      return failed.length === 0 ? [file] : failed.map(({ fullName }) => `${file}: ${fullName}`);
    });
}
