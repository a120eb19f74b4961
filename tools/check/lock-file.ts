/**
 * `node tools/check/lock-file.ts` rejects dependencies that `npm ci` cannot verify: without a hash, from outside the
 * registry, or with a missing platform (docs/adr/no-build-step.md).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

export interface LockFile {
  packages: Record<string, LockedPackage>;
}

const registry = 'https://registry.npmjs.org/';
/** Matches versions, ranges, tags and aliases. Any other text is a URL or a folder. */
const versionPattern = /^(npm:(@[\w.-]+\/)?[\w.-]+@)?[\w.*+^~<>=|\s-]*$/;

/** @returns one line per problem */
export function findLockProblems({ packages }: LockFile): string[] {
  return Object.entries(packages).flatMap(([path, item]) => [
    ...(path === '' ? [] : findOwnProblems(path, item)),
    ...Object.entries({ ...item.dependencies, ...item.devDependencies, ...item.optionalDependencies })
      .filter(([, spec]) => !versionPattern.test(spec))
      .map(([name, spec]) => `${path || 'package.json'}: ${name} is "${spec}", which is not a version of the registry`),
    ...Object.keys(item.optionalDependencies ?? {})
      .filter((name) => !isLocked(packages, path, name))
      .map(
        (name) =>
          `${path}: its optional package ${name} is missing; choose a version of which the registry has every platform`,
      ),
  ]);
}

function findOwnProblems(path: string, { resolved, integrity, link }: LockedPackage): string[] {
  if (link === true) return [`${path}: is a link to a folder`];
  return [
    ...(/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '') ? [] : [`${path}: has no sha512 integrity`]),
    ...(resolved === undefined || resolved.startsWith(registry)
      ? []
      : [`${path}: comes from ${resolved}, not from ${registry}`]),
  ];
}

/** Returns true when Node's resolution finds `name` from the package at `path`. */
function isLocked(packages: LockFile['packages'], path: string, name: string): boolean {
  for (let dir = path; ; dir = dir.slice(0, Math.max(0, dir.lastIndexOf('/node_modules/')))) {
    if (packages[`${dir === '' ? '' : `${dir}/`}node_modules/${name}`] !== undefined) return true;
    if (dir === '') return false;
  }
}

if (import.meta.main) {
  const file = join(import.meta.dirname, '..', '..', 'package-lock.json');
  const problems = findLockProblems(JSON.parse(readFileSync(file, 'utf8')) as LockFile);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
