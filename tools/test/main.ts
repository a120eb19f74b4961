/**
 * `npm test`: runs the checks, then all tiers of tests with dedicated servers; drills run in their short form.
 * Arguments are passed to Jest and skip the checks: `npm test -- test/e2e/audio.test.ts`.
 */
import { staticSteps } from '../check/static-steps.ts';
import { releaseProjects } from './release-projects.ts';
import { runTests } from './run.ts';

await runTests({ checks: staticSteps, projects: { allBut: releaseProjects } }, process.argv.slice(2));
