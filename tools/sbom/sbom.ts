/**
 * Generates the CycloneDX list of a production install from package-lock.json. npm generates the list of all
 * dependencies, and this program removes packages that only development uses. `npm sbom --omit dev` is not sufficient,
 * because it also omits packages that production and development use (pg, ajv).
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
  /** Real name of a package that is installed under another name. */
  name?: string;
  version?: string;
  dev?: boolean;
  /** True for packages of the development stack (package.json, peerDependencies). */
  peer?: boolean;
}

export interface Sbom {
  readonly specVersion: string;
  readonly metadata: { readonly component: { readonly 'bom-ref': string; readonly name: string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly hashes: readonly { readonly alg: string; readonly content: string }[];
    readonly licenses?: readonly unknown[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** Returns `name@version` of every package of a production install, for all platforms. */
export function listProductionPackages(repoDir: string): Set<string> {
  const { packages } = JSON.parse(readFileSync(join(repoDir, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  return new Set(
    Object.entries(packages)
      .filter(([path, { dev, peer }]) => path !== '' && dev !== true && peer !== true)
      .map(
        ([path, { name, version }]) =>
          `${name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`,
      ),
  );
}

/** Returns the list in CycloneDX format. @throws Error with the output of npm */
export function createSbom(repoDir: string): Sbom {
  const included = listProductionPackages(repoDir);
  const { name } = JSON.parse(readFileSync(join(repoDir, 'package.json'), 'utf8')) as { name: string };
  const { metadata, components, dependencies, ...rest } = runNpmSbom(repoDir);
  const root = metadata.component['bom-ref'];
  return {
    ...rest,
    metadata: { ...metadata, component: { ...metadata.component, name } }, // npm would use the name of the folder
    components: components.filter((component) => included.has(component['bom-ref'])),
    dependencies: dependencies
      .filter(({ ref }) => ref === root || included.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((item) => included.has(item)) })),
  };
}

function runNpmSbom(repoDir: string): Sbom {
  const script = process.env['npm_execpath'];
  const [program, ...before] = script === undefined ? ['npm'] : [process.execPath, script];
  const args = [...before, 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--loglevel', 'error'];
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: repoDir,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  return JSON.parse(stdout) as Sbom;
}
