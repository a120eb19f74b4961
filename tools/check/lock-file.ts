/**
 * What `npm ci` would install without being able to tell that it is the right thing: `node tools/check/lock-file.ts` fails on a dependency
 * of package-lock.json without a hash, from elsewhere than the registry, or of a platform that is left out
 * (docs/adr/no-build-step.md).
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
/** Versions, ranges and tags, perhaps of a package of another name; everything else is an address or a folder. */
const versionPattern = /^(npm:(@[\w.-]+\/)?[\w.-]+@)?[\w.*+^~<>=|\s-]*$/;

/** One line for each problem; empty when the file is in order. */
export function findLockProblems({ packages }: LockFile): string[] {
  return Object.entries(packages).flatMap(([path, item]) => [
    ...(path === '' ? [] : findOwnProblems(path, item)),
    ...Object.entries({ ...item.dependencies, ...item.devDependencies, ...item.optionalDependencies })
      .filter(([, spec]) => !versionPattern.test(spec))
      .map(([name, spec]) => `${path || 'package.json'}: ${name} is "${spec}", which is no version of the registry`),
    ...Object.keys(item.optionalDependencies ?? {})
      .filter((name) => !isLocked(packages, path, name))
      .map((name) => `${path}: its optional package ${name} is missing; choose a version of which the registry has every platform`),
  ]);
}

function findOwnProblems(path: string, { resolved, integrity, link }: LockedPackage): string[] {
  if (link === true) return [`${path}: is a link to a folder`];
  return [
    ...(/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '') ? [] : [`${path}: has no sha512 integrity`]),
    ...(resolved === undefined || resolved.startsWith(registry) ? [] : [`${path}: comes from ${resolved}, not from ${registry}`]),
  ];
}

/** Whether the package at `path` finds `name` as Node would: beside it or further up. */
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
