/** Runs the tests: builds required programs, runs the checks and Jest, and prints the summary. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jestCommand, repoDir, runCommand, runStepsTogether, type Step } from '../check/commands.ts';
import { type GoTool, provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { natsServerTool, versitygwTool } from '../../libs/product/servers/go-tools.ts';
import {
  chromiumProgram,
  type DebianProgram,
  ffmpegProgram,
  pgBouncerProgram,
  provideDebianProgram,
} from '../../libs/product/servers/debian-program.ts';
import { type JestResult, listFailures, summarize } from './summary.ts';
import { findUnmatched, listPatterns, listTestFiles, readProjects } from './test-files.ts';

const dataDir = join(repoDir, '.data');
const jestFile = join(dataDir, 'jest-result.json');
/** File with the problems that `test/jest/contract-reporter.ts` reports. */
const unseenFile = join(dataDir, 'unseen-answers.txt');
const resultFile = join(dataDir, 'test-result.json');
const programs = [ffmpegProgram, chromiumProgram, pgBouncerProgram, natsServerTool, versitygwTool];

export interface TestRun {
  /** Steps before the tests, while programs are built. */
  readonly checks?: readonly Step[];
  /** Names of the Jest projects to run, or of the projects to exclude. */
  readonly projects: { readonly only: readonly string[] } | { readonly allBut: readonly string[] };
  /** Further tools. They are built before the tests, because a compiler would slow down drills. */
  readonly tools?: readonly GoTool[];
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Runs the checks and the tests. `args` are passed to Jest; with arguments, the other steps are skipped and test files
 * build the programs that they need. The last line is `N passed, N failed`, and the result is also stored in
 * `.data/test-result.json`.
 */
export async function runTests(
  { checks = [], projects, tools = [], env = {} }: TestRun,
  args: readonly string[],
): Promise<void> {
  Object.assign(process.env, env);
  const unmatched = await listUnmatched(projects, args);
  if (unmatched.length > 0) {
    for (const message of unmatched) console.error(message);
    process.exitCode = 1;
    return;
  }
  mkdirSync(dataDir, { recursive: true });
  for (const file of [jestFile, resultFile, unseenFile]) rmSync(file, { force: true });
  const isWhole = args.length === 0;
  const needed = isWhole ? provide([...programs, ...tools]) : undefined;
  const failedSteps = isWhole ? await runStepsTogether(checks) : [];
  await needed;
  console.log('\n── tests (jest)');
  const selected =
    'only' in projects
      ? ['--selectProjects', ...projects.only]
      : isWhole
        ? ['--ignoreProjects', ...projects.allBut]
        : [];
  const command = [...jestCommand, '--json', `--outputFile=${jestFile}`, ...args, ...selected] as const;
  const status = await runCommand(command, { NO_COLOR: '1' });
  report(status, failedSteps, args);
}

async function listUnmatched(projects: TestRun['projects'], args: readonly string[]): Promise<string[]> {
  const patterns = listPatterns(args);
  if (patterns.length === 0) return [];
  const files = listTestFiles(await readProjects(repoDir), repoDir, 'only' in projects ? projects.only : undefined);
  return findUnmatched(patterns, files, repoDir);
}

function report(status: number, failedSteps: readonly string[], args: readonly string[]): void {
  const result = readJestResult();
  const isSelection = args.some((argument) => /^(-t|--testNamePattern)/.test(argument));
  const summary = summarize(result, status, failedSteps, { isSelection });
  writeFileSync(resultFile, JSON.stringify(summary));
  /** Names of failed tests, printed again at the end of the log. */
  const failures = [
    ...(result === undefined ? [] : listFailures(result, repoDir)),
    ...(existsSync(unseenFile) ? readFileSync(unseenFile, 'utf8').split('\n') : []),
    ...summary.problems,
  ];
  for (const failure of failures) console.log(`FAILED: ${failure}`);
  console.log(`${summary.passed} passed, ${summary.failed} failed`);
  process.exitCode = summary.failed === 0 ? 0 : 1;
}

/** Builds the programs one after the other. A failure is printed here, and tests that need the program then fail. */
async function provide(requested: readonly (DebianProgram | GoTool)[]): Promise<void> {
  const print = (line: string): void => console.log(`   ${line}`);
  for (const item of requested) {
    try {
      await ('module' in item ? provideGoTool(item, print) : provideDebianProgram(item, print));
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
