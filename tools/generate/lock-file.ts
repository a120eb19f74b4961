/**
 * Completes package-lock.json. A package with native parts names one optional package per platform; npm leaves those out of the
 * lock file that the registry at hand does not carry, and `npm ci` then refuses the file. Version and platform are all that npm
 * needs to know to skip them, and both follow from the name.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
  version?: string;
  cpu?: string[];
  dev?: boolean;
  libc?: string[];
  license?: string;
  optional?: boolean;
  os?: string[];
  optionalDependencies?: Record<string, string>;
}

interface LockFile {
  packages: Record<string, LockedPackage>;
}

const platformName =
  /(?<os>aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)-(?<cpu>arm64|arm|x64|ppc64|riscv64|s390x|ia32|loong64)(?:-(?<abi>\w+))?$/;

/** The text of the file with every optional package of a platform in it. */
export function describeLockFile(): Promise<string> {
  const file = join(import.meta.dirname, '..', '..', 'package-lock.json');
  const lock = JSON.parse(readFileSync(file, 'utf8')) as LockFile;
  return Promise.resolve(`${JSON.stringify({ ...lock, packages: completePackages(lock.packages) }, null, 2)}\n`);
}

/** @throws Error when a missing package's name tells no platform or its version is not exact. */
export function completePackages(packages: Readonly<Record<string, LockedPackage>>): Record<string, LockedPackage> {
  const complete = { ...packages };
  for (const [path, item] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(item.optionalDependencies ?? {})) {
      if (!isLocked(complete, path, name)) complete[`node_modules/${name}`] = describePlatformPackage(name, version, item.dev === true);
    }
  }
  return Object.fromEntries(Object.entries(complete).toSorted(([a], [b]) => a.localeCompare(b, 'en')));
}

function describePlatformPackage(name: string, version: string, dev: boolean): LockedPackage {
  const { os, cpu, abi } = platformName.exec(name)?.groups ?? {};
  if (os === undefined || cpu === undefined || !/^\d/.test(version)) {
    throw new Error(`package-lock.json lacks ${name}@${version}, an optional package; add it with npm install`);
  }
  const libc = os !== 'linux' || abi === undefined ? undefined : abi.startsWith('musl') ? 'musl' : 'glibc';
  return {
    version,
    cpu: [cpu],
    ...(dev ? { dev } : {}),
    ...(libc === undefined ? {} : { libc: [libc] }),
    license: 'MIT',
    optional: true,
    os: [os],
  };
}

/** Whether the package at `path` finds `name` as Node would: beside it or further up. */
function isLocked(packages: Readonly<Record<string, LockedPackage>>, path: string, name: string): boolean {
  for (let dir = path; ; dir = dir.slice(0, Math.max(0, dir.lastIndexOf('/node_modules/')))) {
    if (packages[`${dir === '' ? '' : `${dir}/`}node_modules/${name}`] !== undefined) return true;
    if (dir === '') return false;
  }
}
