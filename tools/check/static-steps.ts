import type { Step } from './commands.ts';

/** Steps of `npm run check` except the tests. The slowest steps are first, since the steps run in parallel. */
export const staticSteps: readonly Step[] = [
  { title: 'lint (oxlint, type-aware)', command: ['oxlint'] },
  { title: 'types (tsc)', command: ['tsc', '--noEmit', '--singleThreaded'] }, // with several threads, each would check the types of packages again
  { title: 'dead code (knip)', command: ['knip', '--no-progress'] },
  { title: 'generated files in sync', command: ['node', 'tools/generate.ts', '--check'] },
  { title: 'format (oxfmt)', command: ['oxfmt', '--check', '.'] },
  { title: 'types of the visitor page (tsc)', command: ['tsc', '--noEmit', '-p', 'services/api-gateway/chat-page'] },
  { title: 'types of the console (tsc)', command: ['tsc', '--noEmit', '-p', 'services/api-gateway/console-page'] },
  { title: 'regular expressions', command: ['node', 'tools/check/regular-expressions.ts'] },
  { title: 'statements of migrations (squawk)', command: ['node', 'tools/check/migrations.ts'] },
  { title: 'words of the glossary', command: ['node', 'tools/check/words.ts'] },
  { title: 'lock file', command: ['node', 'tools/check/lock-file.ts'] },
];
