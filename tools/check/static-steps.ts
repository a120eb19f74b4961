import type { Step } from './commands.ts';

/** Steps of `npm run check` besides tests, slowest first, since they run in parallel. */
export const staticSteps: readonly Step[] = [
  { title: 'lint (oxlint, type-aware)', command: ['oxlint'] },
  { title: 'types (tsc)', command: ['tsc', '--noEmit', '--singleThreaded'] }, // several threads would check the types of packages repeatedly
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
