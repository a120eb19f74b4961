/**
 * `npm test`: the checks, then every tier of tests on servers of its own. Arguments go to jest and leave the checks out:
 * `npm test -- test/e2e/audio.test.ts`. The last line is `N passed, N failed`; the result is also kept in
 * `.data/test-result.json`.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jestCommand, repoDir, runCommand, runSteps } from '../check/commands.ts';
import { staticSteps } from '../check/static-steps.ts';
import { type GoTool, helmTool, k6Tool, kubeconformTool, minioTool, natsServerTool, provideGoTool } from '../servers/go-tool.ts';
import { chromiumProgram, type DebianProgram, ffmpegProgram, provideDebianProgram } from '../servers/debian-program.ts';
import { type JestResult, summarize } from './summary.ts';

const dataDir = join(repoDir, '.data');
const jestFile = join(dataDir, 'jest-result.json');
const resultFile = join(dataDir, 'test-result.json');
const systemPrograms = [ffmpegProgram, chromiumProgram];

const args = process.argv.slice(2);
mkdirSync(dataDir, { recursive: true });
for (const file of [jestFile, resultFile]) rmSync(file, { force: true });

// Fetched while the checks run, what only some tests need while the first tests run; a run of single files fetches what it needs itself.
const needed = args.length === 0 ? provide([...systemPrograms, natsServerTool, minioTool]) : undefined;
void needed?.then(() => provide([helmTool, kubeconformTool, k6Tool]));
const failedSteps = args.length === 0 ? await runSteps(staticSteps) : [];
await needed;
console.log('\n── tests (jest)');
const status = await runCommand([...jestCommand, '--json', `--outputFile=${jestFile}`, ...args], { NO_COLOR: '1' });
const summary = summarize(readJestResult(), status, failedSteps);
writeFileSync(resultFile, JSON.stringify(summary));
for (const problem of summary.problems) console.log(`FAILED: ${problem}`);
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
