import { relative } from 'node:path';

/** What jest tells of a run, as far as it is used here (`--json`). */
export interface JestResult {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  /** Files that could not be run at all. */
  numRuntimeErrorTestSuites: number;
  testResults: readonly TestFile[];
}

interface TestFile {
  /** Its path. */
  name: string;
  status: string;
  assertionResults: readonly { status: string; fullName: string }[];
}

export interface Summary {
  passed: number;
  failed: number;
  /** What failed besides single tests, in words. */
  problems: string[];
}

/**
 * Counts what passed and what failed. A failed check, a test file that could not run, a skipped test and a crash of jest
 * count as one failure each, so that nothing that went wrong can look like success. Of a selection by name jest counts all others as skipped.
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

/** What failed, by name: tests, and files of which none ran. */
export function listFailures({ testResults }: JestResult, root: string): string[] {
  return testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults }) => {
      const file = relative(root, name);
      const failed = assertionResults.filter((test) => test.status === 'failed');
      return failed.length === 0 ? [file] : failed.map(({ fullName }) => `${file}: ${fullName}`);
    });
}
