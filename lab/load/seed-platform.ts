/** Seeds a platform through the admin CLI, as an operator would. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describeSeed, describeWorkspace, newPrefix, type Seed } from './workspace.ts';

const repoDir = join(import.meta.dirname, '..', '..');

/** Applies the load workspace and writes the seed to `file`. @throws Error with the output of the CLI */
export async function seedPlatform(file: string, env: NodeJS.ProcessEnv): Promise<Seed> {
  const prefix = newPrefix();
  const folder = mkdtempSync(join(tmpdir(), 'load-seed-'));
  try {
    const document = join(folder, 'workspace.json');
    writeFileSync(document, JSON.stringify(describeWorkspace(prefix)), { mode: 0o600 });
    const { ids } = JSON.parse(await runCli(['workspace', 'apply', document, '--json'], env)) as {
      ids: Parameters<typeof describeSeed>[1];
    };
    const seed = describeSeed(prefix, ids);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(seed, null, 2)}\n`, { mode: 0o600 });
    return seed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runCli(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: repoDir, env: { ...env, NODE_OPTIONS: '' } };
    execFile(process.execPath, [join('cli', 'main.ts'), ...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`the workspace of the load test could not be applied:\n${stdout}${stderr}`));
    });
  });
}
