/** Builds the TypeScript client as a package: JavaScript and declarations, packed by npm like a published package. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const repoDir = join(import.meta.dirname, '..', '..');
const sourceDir = join(repoDir, 'clients', 'typescript');

/** Builds below `dir`, which is emptied. @returns the tarball. @throws Error with the output of the compiler or npm */
export async function packClient(dir: string): Promise<string> {
  const packageDir = join(dir, 'package');
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(packageDir, { recursive: true });
  const compiler = join(repoDir, 'node_modules', 'typescript', 'bin', 'tsc');
  await run(process.execPath, [compiler, '-p', sourceDir, '--outDir', join(packageDir, 'dist')]);
  for (const file of ['package.json', 'README.md']) cpSync(join(sourceDir, file), join(packageDir, file));
  cpSync(join(repoDir, 'LICENSE'), join(packageDir, 'LICENSE'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', dir], { cwd: packageDir });
  const [packed] = JSON.parse(stdout) as [{ filename: string }];
  return join(dir, packed.filename);
}
