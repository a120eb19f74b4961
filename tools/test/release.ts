/**
 * `npm run test:release`: the drills in full (test/drill.ts), the Helm chart and the load tests; run before a release and before an issue about one
 * of them is closed. Arguments go to jest: `npm run test:release -- test/e2e/upgrade.release.test.ts`.
 */
import { helmTool, k6Tool, kubeconformTool } from '../../libs/servers/go-tools.ts';
import { releaseProjects } from './release-projects.ts';
import { runTests } from './run.ts';

const tools = [k6Tool, helmTool, kubeconformTool];
await runTests({ projects: { only: releaseProjects }, laterTools: tools, env: { TEST_RELEASE: 'true' } }, process.argv.slice(2));
