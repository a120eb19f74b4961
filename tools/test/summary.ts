/** What jest tells of a run, as far as it is used here (`--json`). */
export interface JestResult {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  /** Files that could not be run at all. */
  numRuntimeErrorTestSuites: number;
}

export interface Summary {
  passed: number;
  failed: number;
  /** What failed besides single tests, in words. */
  problems: string[];
}

/**
 * Counts what passed and what failed. A failed check, a test file that could not run, a skipped test and a crash of jest
 * count as one failure each, so that nothing that went wrong can look like success.
 */
export function summarize(result: JestResult | undefined, jestStatus: number, failedSteps: readonly string[]): Summary {
  const problems = failedSteps.map((title) => `check "${title}"`);
  const passed = result?.numPassedTests ?? 0;
  let failedTests = result?.numFailedTests ?? 0;
  if (result === undefined) problems.push(`jest gave no result (status ${jestStatus})`);
  else {
    for (const [count, what] of [
      [result.numRuntimeErrorTestSuites, 'test files that could not run'],
      [result.numPendingTests + result.numTodoTests, 'tests that were skipped'],
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

/** Of several runs, as one. */
export function addSummaries(summaries: readonly Summary[]): Summary {
  return {
    passed: summaries.reduce((sum, { passed }) => sum + passed, 0),
    failed: summaries.reduce((sum, { failed }) => sum + failed, 0),
    problems: summaries.flatMap(({ problems }) => problems),
  };
}
