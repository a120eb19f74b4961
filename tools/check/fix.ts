/** `npm run fix`: fixes format and lint, and writes generated files. */
import { runSteps } from './commands.ts';

const failed = await runSteps([
  { title: 'generated files', command: ['node', 'tools/generate.ts'] },
  { title: 'lint', command: ['oxlint', '--fix'] },
  { title: 'format', command: ['oxfmt', '.'] },
]);
process.exitCode = failed.length === 0 ? 0 : 1;
