/**
 * `node lab/alerts/main.ts`: validates the chart's alerts with Prometheus' promtool and runs `cases.yaml` against them:
 * input series, firing times and message texts. Not part of `npm test` because building promtool takes minutes.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeRules } from '../dashboards/prometheus.ts';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { promtoolTool } from '../../libs/product/servers/go-tools.ts';

const promtool = await provideGoTool(promtoolTool, (line) => void process.stdout.write(`${line}\n`));
const dir = mkdtempSync(join(tmpdir(), 'alerts-'));
try {
  writeFileSync(join(dir, 'one.yaml'), describeRules(['a']));
  // Runs each case with the rules of three installations and lists every firing alert, so that an alert of another
  // installation is detected.
  writeFileSync(join(dir, 'alerts.yaml'), describeRules(['a', 'b', 'c']));
  copyFileSync(join(import.meta.dirname, 'cases.yaml'), join(dir, 'cases.yaml'));
  const statuses = [
    ['check', 'rules', '--lint=all', '--lint-fatal', 'one.yaml'],
    ['test', 'rules', 'cases.yaml'],
  ].map((args) => spawnSync(promtool, args, { cwd: dir, stdio: 'inherit' }).status);
  process.exitCode = statuses.every((status) => status === 0) ? 0 : 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
