/**
 * `node tools/check/shape.ts [folder]`: prints the size of this working tree, or of the one in another folder, as a
 * table.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseSync } from 'oxc-parser';
import { repoDir } from './commands.ts';

const root = resolve(process.argv[2] ?? repoDir);
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
const list = (pattern: RegExp): string[] => tracked.filter((file) => pattern.test(file));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const countLines = (file: string): number => read(file).split('\n').length - 1;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

/**
 * Returns the number of folders of a service, including its root, and the length of the longest import chain between
 * them. Folders that import each other count as one level.
 */
function measureFolders(service: string): { folders: number; levels: number } {
  const files = list(new RegExp(`^services/${service}/.*\\.ts$`)).filter((file) => !file.endsWith('.test.ts'));
  const folderOf = (file: string): string => relative(join('services', service), dirname(file)).split('/')[0] ?? '';
  const imports = new Map<string, Set<string>>();
  for (const file of files) {
    const from = folderOf(file);
    const targets = imports.get(from) ?? new Set<string>();
    imports.set(from, targets);
    for (const { moduleRequest } of parseSync(file, read(file)).module.staticImports) {
      const target = join(dirname(file), moduleRequest.value);
      if (
        moduleRequest.value.startsWith('.') &&
        files.includes(target) &&
        folderOf(target) !== from &&
        folderOf(target) !== ''
      )
        targets.add(folderOf(target));
    }
  }
  const levelOf = (folder: string, path: readonly string[]): number =>
    1 +
    Math.max(
      0,
      ...[...(imports.get(folder) ?? [])]
        .filter((next) => !path.includes(next))
        .map((next) => levelOf(next, [...path, folder])),
    );
  return { folders: imports.size, levels: Math.max(...[...imports.keys()].map((folder) => levelOf(folder, []))) };
}

const sources = list(/^(services|libs)\/.*\.ts$/).filter((file) => !/\.test\.ts$|\/Migration\d+/.test(file));
const migrations = list(/\/Migration\d+\w*\.ts$/);
const code = list(/^(services|libs|cli|lab)\/.*\.ts$/).filter((file) => !file.endsWith('.test.ts'));
const pages = list(/\.md$/).filter((file) => file !== 'CHANGELOG.md');
const directory = measureFolders('directory');
const { packages } = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, { dev?: boolean; optional?: boolean }>;
};
const installed = Object.entries(packages).filter(([path, { optional }]) => path !== '' && optional !== true);

const rows: readonly [string, number, string][] = [
  ['files of services and libs (without tests and migrations)', sources.length, '≤ 750'],
  ['median of their lines', median(sources.map(countLines)), '≥ 90'],
  ['lines of services, libs, cli and lab (without tests)', sum(code.map(countLines)), '≤ 85,000'],
  ['migrations', migrations.length, '≤ 20'],
  ['folders of services/directory', directory.folders, '≤ 30'],
  ['levels of services/directory', directory.levels, '≤ 6'],
  ['folders of lab', new Set(list(/^lab\/[^/]+\//).map((file) => file.split('/')[1])).size, '≤ 8'],
  [
    'words of documents (without the changelog)',
    sum(pages.map((file) => read(file).split(/\s+/).filter(Boolean).length)),
    '≤ 65,000',
  ],
  [
    'npm packages of npm start (without optional ones)',
    installed.filter(([, { dev }]) => dev !== true).length,
    '≤ 450',
  ],
  ['npm packages of npm test (without optional ones)', installed.length, ''],
];
const width = Math.max(...rows.map(([title]) => title.length));
for (const [title, value, goal] of rows)
  console.log(`${title.padEnd(width)}  ${value.toLocaleString('en').padStart(8)}  ${goal}`);
