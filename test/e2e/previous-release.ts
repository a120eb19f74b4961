/** The code of the release before this one, laid out in a folder where its services can be started (rules/operations#releases). */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { releaseVersion } from '#libs/infrastructure/release';
import previous from './previous-release.json' with { type: 'json' };

const repoDir = join(import.meta.dirname, '..', '..');

interface PackageFile {
  version: string;
  dependencies: Record<string, string>;
}

export interface PreviousRelease {
  readonly dir: string;
  readonly version: string;
}

const git = (dir: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
const readPackage = (file: string): PackageFile => JSON.parse(readFileSync(file, 'utf8')) as PackageFile;

/**
 * The last release tag in the history that is not of the version in the work tree, so that a tag on HEAD changes nothing; of a clone that knows no
 * tags, `otherwise`. What the clone has not got, being shallow, is fetched.
 *
 * @throws Error when there is nowhere to fetch it from
 */
export function findPreviousCommit(dir: string, version: string, otherwise: string): string {
  let commit = otherwise;
  try {
    const tag = git(dir, 'describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', '--exclude', `v${version}`);
    commit = git(dir, 'rev-parse', `${tag}^{commit}`);
  } catch {
    // No tag is in the history of this clone.
  }
  try {
    git(dir, 'cat-file', '-e', `${commit}^{commit}`);
  } catch {
    try {
      git(dir, 'fetch', '--quiet', '--no-tags', '--depth', '1', 'origin', commit);
    } catch (error) {
      throw new Error(`The previous release, ${commit}, is not in this clone and cannot be fetched`, { cause: error });
    }
  }
  return commit;
}

export function layOutPreviousRelease(): PreviousRelease {
  const commit = findPreviousCommit(repoDir, releaseVersion, previous.commit);
  const dir = join(repoDir, '.data', 'previous-release', commit.slice(0, 12));
  if (!existsSync(dir)) layOut(commit, dir);
  return { dir, version: readPackage(join(dir, 'package.json')).version };
}

function layOut(commit: string, dir: string): void {
  const draft = `${dir}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    const archive = `${draft}.tar`;
    git(
      repoDir,
      'archive',
      '--output',
      archive,
      commit,
      'package.json',
      'package-lock.json',
      'libs',
      'services',
      'cli',
      'tools',
    );
    execFileSync('tar', ['-xf', archive, '-C', draft]);
    rmSync(archive);
    providePackages(draft);
    renameSync(draft, dir);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

/** Of the docs pages of that release, which no test opens. */
const unused: ReadonlySet<string> = new Set(['@scalar/api-reference']);

/** Ours where they are the same, else its own. */
function providePackages(dir: string): void {
  const { dependencies } = readPackage(join(dir, 'package.json'));
  const isOurs = ([name, version]: [string, string]): boolean => {
    if (unused.has(name)) return true;
    const file = join(repoDir, 'node_modules', name, 'package.json');
    return existsSync(file) && readPackage(file).version === version;
  };
  if (Object.entries(dependencies).every(isOurs)) symlinkSync(join(repoDir, 'node_modules'), join(dir, 'node_modules'));
  else
    execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: dir,
      stdio: 'ignore',
    });
}
