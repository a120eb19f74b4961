/**
 * `npm run test:release`: runs the full drills (test/drill.ts), the tests of the Helm chart and the load tests. Run it
 * before a release, and before you finish a change to code that a drill covers. Arguments are passed to Jest: `npm run
 * test:release -- test/e2e/upgrade.release.test.ts`.
 */
import { helmTool, k6Tool, kubeconformTool } from '../../libs/product/servers/go-tools.ts';
import { releaseProjects } from './release-projects.ts';
import { runTests } from './run.ts';

const tools = [k6Tool, helmTool, kubeconformTool];
await runTests({ projects: { only: releaseProjects }, tools, env: { TEST_RELEASE: 'true' } }, process.argv.slice(2));
