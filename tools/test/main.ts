/**
 * `npm test`: the checks, then every tier of tests on servers of its own, and those of the object store once more with MinIO. Arguments go
 * to jest and leave the checks out:
 * `npm test -- test/e2e/audio.test.ts`. The last line is `N passed, N failed`; the result is also kept in
 * `.data/test-result.json`.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jestCommand, repoDir, runCommand, runSteps } from '../check/commands.ts';
import { staticSteps } from '../check/static-steps.ts';
import { type GoTool, provideGoTool } from '../servers/go-tool.ts';
import { helmTool, k6Tool, kubeconformTool, minioTool, natsServerTool, versitygwTool } from '../servers/go-tools.ts';
import { chromiumProgram, type DebianProgram, ffmpegProgram, provideDebianProgram } from '../servers/debian-program.ts';
import { addSummaries, type JestResult, listFailures, summarize } from './summary.ts';

const dataDir = join(repoDir, '.data');
const jestFile = join(dataDir, 'jest-result.json');
/** Written by `test/jest/contract-reporter.ts`. */
const unseenFile = join(dataDir, 'unseen-answers.txt');
const resultFile = join(dataDir, 'test-result.json');
const systemPrograms = [ffmpegProgram, chromiumProgram];
/** Run a second time with the other object store that the platform is tested with. */
const objectStoreTests = ['object-store', 'servers/object-store', 'media'].map((part) => `test/integration/${part}`);

const args = process.argv.slice(2);
mkdirSync(dataDir, { recursive: true });
for (const file of [jestFile, resultFile]) rmSync(file, { force: true });

// Fetched while the checks run, what only some tests need while the first tests run; a run of single files fetches what it needs itself.
const isWhole = args.length === 0;
const needed = isWhole ? provide([...systemPrograms, natsServerTool, versitygwTool]) : undefined;
const neededLater = needed?.then(() => provide([helmTool, kubeconformTool, k6Tool, minioTool]));
const failedSteps = isWhole ? await runSteps(staticSteps) : [];
await needed;
/** By name, shown once more at the end: a log is read from there. */
const failures: string[] = [];
const runs = [summarize(...(await runJest('tests (jest)', args)), failedSteps)];
if (isWhole) {
  await neededLater;
  const title = 'tests of the object store, with MinIO in the place of versitygw (jest)';
  runs.push(summarize(...(await runJest(title, objectStoreTests, { TEST_OBJECT_STORE: 'minio' })), []));
}
const summary = addSummaries(runs);
writeFileSync(resultFile, JSON.stringify(summary));
for (const failure of [...failures, ...summary.problems]) console.log(`FAILED: ${failure}`);
console.log(`${summary.passed} passed, ${summary.failed} failed`);
process.exitCode = summary.failed === 0 ? 0 : 1;

async function runJest(title: string, jestArgs: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<[JestResult | undefined, number]> {
  console.log(`\n── ${title}`);
  for (const file of [jestFile, unseenFile]) rmSync(file, { force: true });
  const status = await runCommand([...jestCommand, '--json', `--outputFile=${jestFile}`, ...jestArgs], { NO_COLOR: '1', ...env });
  const result = readJestResult();
  if (result !== undefined) failures.push(...listFailures(result, repoDir));
  if (existsSync(unseenFile)) failures.push(...readFileSync(unseenFile, 'utf8').split('\n'));
  return [result, status];
}

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
