/** `npm run check`: the first step of CI. */
import { jestCommand, runStepsTogether, type Step } from './commands.ts';
import { staticSteps } from './static-steps.ts';

const unitTests: Step = {
  title: 'unit tests (jest)',
  command: [...jestCommand, '--selectProjects', 'unit', '--silent'],
};
const failed = await runStepsTogether([unitTests, ...staticSteps]);
console.log(
  failed.length === 0
    ? '\nAll checks passed.'
    : `\nFailed: ${failed.join(', ')}. Some problems can be fixed with: npm run fix`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
