/**
 * Reports documented responses that the e2e tests did not produce. If all e2e files ran, such responses fail the run;
 * otherwise only their number is printed.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildDocuments } from '../../services/api-gateway/documents.ts';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { findUnseen } from '../e2e/contract/coverage.ts';
import { openRecordings, readRecordings } from '../e2e/contract/recordings.ts';
import { listOperations } from '../e2e/contract/served-documents.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const e2eDir = join(repoDir, 'test', 'e2e');

interface TestRun {
  testResults: readonly { testFilePath: string }[];
}

export default class ContractReporter {
  readonly #folder = join(repoDir, '.data', 'contract', `run-${process.pid}`);
  #error: Error | undefined;

  onRunStart(): void {
    openRecordings(this.#folder);
  }

  onRunComplete(_contexts: unknown, run: TestRun): void {
    const seen = readRecordings(this.#folder);
    const ran = new Set(
      run.testResults.map(({ testFilePath }) => testFilePath).filter((path) => path.startsWith(e2eDir)),
    );
    const files = readdirSync(e2eDir).filter((file) => file.endsWith('.test.ts') && !file.endsWith('.release.test.ts'));
    const missing = files.filter((file) => ![...ran].some((path) => basename(path) === file));
    rmSync(this.#folder, { recursive: true, force: true });
    if (ran.size === 0) return;
    const operations = listOperations(Object.values(buildDocuments(routes)));
    const { documented, unseen } = findUnseen(operations, seen);
    console.log(
      `\nContract: ${documented - unseen.length} of ${documented} documented answers of ${operations.length} operations seen.`,
    );
    if (missing.length > 0 || unseen.length === 0) return;
    console.log(unseen.map((line) => `  never seen: ${line}`).join('\n'));
    writeFileSync(
      join(repoDir, '.data', 'unseen-answers.txt'),
      unseen.map((line) => `documented, but never seen: ${line}`).join('\n'),
    );
    this.#error = new Error(`${unseen.length} documented answers were never seen`);
  }

  /** Returns an error that fails the run (interface of jest). */
  getLastError(): Error | undefined {
    return this.#error;
  }
}
