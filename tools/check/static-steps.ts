import type { Step } from './commands.ts';

/** Everything of `npm run check` that runs no test; the order is from the fastest to the slowest. */
export const staticSteps: readonly Step[] = [
  { title: 'lock file', command: ['node', 'tools/check/lock-file.ts'] },
  { title: 'format (oxfmt)', command: ['oxfmt', '--check', '.'] },
  { title: 'generated files in sync', command: ['node', 'tools/generate.ts', '--check'] },
  { title: 'lint (oxlint, type-aware)', command: ['oxlint'] },
  { title: 'types (tsc)', command: ['tsc', '--noEmit'] },
  { title: 'types of the visitor page (tsc)', command: ['tsc', '--noEmit', '-p', 'services/api-gateway/chat-page'] },
  { title: 'dead code (knip)', command: ['knip', '--no-progress'] },
];
