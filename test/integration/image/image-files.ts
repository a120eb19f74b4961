/**
 * The file set of the image: what the Dockerfile copies, without what .dockerignore excludes, with the production
 * packages.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const repoDir = join(import.meta.dirname, '..', '..', '..');

/** Fills `dir` with the files that the image has in `/app`. */
export function layOutImage(dir: string): void {
  const isIgnored = readIgnored();
  for (const { sources, target } of readCopies()) {
    for (const source of sources) {
      const to = target.endsWith('/') ? join(dir, target, source.split('/').at(-1) ?? '') : join(dir, target);
      cpSync(join(repoDir, source), to, {
        recursive: true,
        filter: (path) => !isIgnored(path.slice(repoDir.length + 1)),
      });
    }
  }
  for (const name of listProductionPackages()) linkPackage(name, join(dir, 'node_modules', name));
}

/** Returns the COPY instructions of the last stage that copy from the build context. */
function readCopies(): { sources: string[]; target: string }[] {
  const stages = readFileSync(join(repoDir, 'Dockerfile'), 'utf8').split(/^FROM /m);
  const lines = (stages.at(-1) ?? '')
    .split('\n')
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='));
  return lines.map((line) => {
    const words = line.split(/\s+/).slice(1);
    return { sources: words.slice(0, -1), target: words.at(-1) ?? '' };
  });
}

/**
 * Returns whether .dockerignore excludes a path; the last matching rule wins. Everything is excluded except `!path`
 * entries, and later rules exclude files below these entries.
 */
function readIgnored(): (path: string) => boolean {
  const rules = readFileSync(join(repoDir, '.dockerignore'), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ ignore: !line.startsWith('!'), fits: matcherOf(line.replace(/^!/, '')) }));
  return (path) => rules.findLast(({ fits }) => fits(path))?.ignore ?? false;
}

/** Returns a function that tests a path. A path matches a pattern when the path or one of its parent folders does. */
function matcherOf(pattern: string): (path: string) => boolean {
  const source = pattern
    .replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('**/', '(?:.*/)?')
    .replaceAll(/(?<!\.)\*/g, '[^/]*');
  const expression = new RegExp(`^${source}(?:/|$)`);
  return (path) => expression.test(path);
}

interface LockedPackage {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  dev?: boolean;
}

/** Returns the top-level packages in node_modules after `npm ci --omit=dev --omit=peer`. */
export function listProductionPackages(): string[] {
  const { packages } = JSON.parse(readFileSync(join(repoDir, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const reached = new Set<string>();
  const visit = (from: string, { dependencies, optionalDependencies, peerDependencies }: LockedPackage): void => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const path = findPackage(packages, from, name);
      const found = path === undefined ? undefined : packages[path];
      if (path === undefined || found === undefined || found.dev === true || reached.has(path)) continue;
      reached.add(path);
      visit(path, found);
    }
  };
  visit('', { dependencies: packages['']?.dependencies ?? {} });
  const names = [...reached]
    .filter((path) => path.lastIndexOf('node_modules/') === 0)
    .map((path) => path.slice('node_modules/'.length));
  return names.toSorted();
}

/** Returns the path at which Node resolves `name` from the package at `from`. */
function findPackage(packages: Record<string, LockedPackage>, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === '') return undefined;
  }
}

/** Links a package into the image folder. Optional packages exist only if they are installed on this platform. */
function linkPackage(name: string, path: string): void {
  const installed = join(repoDir, 'node_modules', name);
  if (!existsSync(installed)) return;
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(installed, path);
}

export function listServices(dir: string): string[] {
  return readdirSync(join(dir, 'services')).toSorted();
}
