/** Writes the generated files: `node tools/generate.ts`; with `--check` only lists outdated files. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeDemoWorkspace, describePlatform } from './generate/chart.ts';
import { describeChartReadme } from './generate/chart-readme.ts';
import { describeChartSchema } from './generate/chart-schema.ts';
import { describeClient } from './generate/client.ts';
import { describeCommands } from './generate/completion.ts';
import { describeErrorCatalogue } from './generate/errors.ts';
import { describeEventTypes } from './generate/event-types.ts';
import { describeExamples } from './generate/examples.ts';
import { describeJobsAndEvents } from './generate/jobs-and-events.ts';
import { describeNatsConf, describeNatsPermissions, describeNscScript } from './generate/nats-conf.ts';
import { describeScopes } from './generate/scopes.ts';
import { describeSettings } from './generate/settings.ts';
import { describeWorkspaceReference } from './generate/workspace-reference.ts';
import { describeWorkspaceSchema } from './generate/workspace-schema.ts';

const repoDir = join(import.meta.dirname, '..');
type Generators = Readonly<Record<string, () => string | Promise<string>>>;

/** Files that are generated completely, so that code hosting sites collapse their diffs. */
const wholeFiles: Generators = {
  'cli/completion/commands.json': describeCommands,
  'clients/typescript/operations.ts': describeClient,
  'clients/typescript/event-types.ts': describeEventTypes,
  'services/api-gateway/examples.json': describeExamples,
  'docs/errors.md': describeErrorCatalogue,
  'docs/jobs-and-events.md': describeJobsAndEvents,
  'docs/scopes.md': describeScopes,
  'docs/settings.md': describeSettings,
  'docs/workspace.schema.json': describeWorkspaceSchema,
  'docs/guides/workspace-file.md': describeWorkspaceReference,
  'deploy/helm/coherence/files/platform.json': describePlatform,
  'deploy/helm/coherence/files/nats.conf': describeNatsConf,
  'deploy/helm/coherence/files/nats-nsc.sh': describeNscScript,
  'libs/infrastructure/release/nats-permissions.json': describeNatsPermissions,
  'deploy/helm/coherence/files/demo-workspace.yaml': describeDemoWorkspace,
  'deploy/helm/coherence/values.schema.json': describeChartSchema,
};
const generators: Generators = {
  ...wholeFiles,
  '.gitattributes': () =>
    ['package-lock.json', ...Object.keys(wholeFiles)].map((file) => `/${file} linguist-generated\n`).join(''),
  'deploy/helm/coherence/README.md': describeChartReadme,
};

const stale: string[] = [];
for (const [file, generate] of Object.entries(generators)) {
  const path = join(repoDir, file);
  const text = await generate();
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  if (process.argv.includes('--check')) stale.push(file);
  else writeFileSync(path, text);
}
if (stale.length > 0) {
  console.error(`Out of date: ${stale.join(', ')}. Update them with: npm run fix`);
  process.exitCode = 1;
}
