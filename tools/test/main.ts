/**
 * `npm test`: the checks, then every tier of tests on servers of its own. Arguments go to jest and leave the checks out:
 * `npm test -- test/e2e/audio.test.ts`. The last line is `N passed, N failed`; the result is also kept in
 * `.data/test-result.json`.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jestCommand, repoDir, runCommand, runStepsTogether } from '../check/commands.ts';
import { staticSteps } from '../check/static-steps.ts';
import { type GoTool, provideGoTool } from '../servers/go-tool.ts';
import { helmTool, k6Tool, kubeconformTool, natsServerTool, versitygwTool } from '../servers/go-tools.ts';
import { chromiumProgram, type DebianProgram, ffmpegProgram, pgBouncerProgram, provideDebianProgram } from '../servers/debian-program.ts';
import { type JestResult, listFailures, summarize } from './summary.ts';

const dataDir = join(repoDir, '.data');
const jestFile = join(dataDir, 'jest-result.json');
/** Written by `test/jest/contract-reporter.ts`. */
const unseenFile = join(dataDir, 'unseen-answers.txt');
const resultFile = join(dataDir, 'test-result.json');
const systemPrograms = [ffmpegProgram, chromiumProgram, pgBouncerProgram];

const args = process.argv.slice(2);
mkdirSync(dataDir, { recursive: true });
for (const file of [jestFile, resultFile, unseenFile]) rmSync(file, { force: true });

// Fetched while the checks run, what only some tests need while the first tests run; a run of single files fetches what it needs itself.
const isWhole = args.length === 0;
const needed = isWhole ? provide([...systemPrograms, natsServerTool, versitygwTool]) : undefined;
const neededLater = needed?.then(() => provide([helmTool, kubeconformTool, k6Tool]));
const failedSteps = isWhole ? await runStepsTogether(staticSteps) : [];
await needed;
console.log('\n── tests (jest)');
const status = await runCommand([...jestCommand, '--json', `--outputFile=${jestFile}`, ...args], { NO_COLOR: '1' });
await neededLater;
const result = readJestResult();
const isSelection = args.some((argument) => /^(-t|--testNamePattern)/.test(argument));
const summary = summarize(result, status, failedSteps, { isSelection });
writeFileSync(resultFile, JSON.stringify(summary));
/** By name, shown once more at the end: a log is read from there. */
const failures = [
  ...(result === undefined ? [] : listFailures(result, repoDir)),
  ...(existsSync(unseenFile) ? readFileSync(unseenFile, 'utf8').split('\n') : []),
  ...summary.problems,
];
for (const failure of failures) console.log(`FAILED: ${failure}`);
console.log(`${summary.passed} passed, ${summary.failed} failed`);
process.exitCode = summary.failed === 0 ? 0 : 1;

/** One after the other. A failure is shown here and is one of the tests that need the program. */
async function provide(wanted: readonly (DebianProgram | GoTool)[]): Promise<void> {
  const say = (line: string): void => console.log(`   ${line}`);
  for (const item of wanted) {
    try {
      await ('module' in item ? provideGoTool(item, say) : provideDebianProgram(item, say));
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
    }
  }
}

function readJestResult(): JestResult | undefined {
  try {
    return JSON.parse(readFileSync(jestFile, 'utf8')) as JestResult;
  } catch {
    return undefined;
  }
}
