/**
 * `npm test`: the checks, then every tier of tests on servers of its own; drills in their smoke form. Arguments go to jest and leave the checks out:
 * `npm test -- test/e2e/audio.test.ts`.
 */
import { staticSteps } from '../check/static-steps.ts';
import { releaseProjects } from './release-projects.ts';
import { runTests } from './run.ts';

await runTests({ checks: staticSteps, projects: { allBut: releaseProjects } }, process.argv.slice(2));
