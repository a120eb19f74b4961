/**
 * Finds the test files that the arguments of `npm test` match before anything starts, so that misspelled names fail at
 * once.
 */
import { globSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

interface Project {
  readonly displayName: string;
  readonly testMatch: readonly string[];
  readonly testPathIgnorePatterns: readonly string[];
}

/** Jest options whose value is the next argument. */
const optionsWithValue =
  /^(-t|-w|-c|-i|--(testNamePattern|maxWorkers|config|shard|seed|reporters|outputFile|testTimeout|coverageDirectory|changedSince))$/;
/** Jest options whose values are all arguments up to the next option. */
const optionsWithList = /^--(selectProjects|ignoreProjects|testPathPatterns|testPathIgnorePatterns)$/;
const maxSuggestions = 5;
const minLikeness = 0.35;

export async function readProjects(root: string): Promise<readonly Project[]> {
  const { default: config } = (await import(join(root, 'jest.config.js'))) as {
    default: { projects: readonly Project[] };
  };
  return config.projects;
}

/** @returns paths relative to `root`. @param only names of projects; undefined for all */
export function listTestFiles(projects: readonly Project[], root: string, only?: readonly string[]): string[] {
  const files = projects
    .filter(({ displayName }) => only?.includes(displayName) !== false)
    .flatMap(({ testMatch, testPathIgnorePatterns }) => {
      const ignored = testPathIgnorePatterns.map((pattern) => new RegExp(pattern.replace('<rootDir>', root)));
      const found = globSync(
        testMatch.map((pattern) => pattern.replace('<rootDir>/', '')),
        { cwd: root, exclude: ['**/node_modules'] },
      );
      return found.filter((path) => !ignored.some((pattern) => pattern.test(join(root, path))));
    });
  return [...new Set(files)].toSorted();
}

/** Returns the arguments that are path patterns instead of options. */
export function listPatterns(args: readonly string[]): string[] {
  let isValue = false;
  let isList = false;
  return args.filter((argument) => {
    if (argument.startsWith('-')) {
      isValue = optionsWithValue.test(argument);
      isList = optionsWithList.test(argument);
      return false;
    }
    const isPattern = !isValue && !isList;
    isValue = false;
    return isPattern;
  });
}

/** Returns one message with similar names for each pattern that matches no file. */
export function findUnmatched(patterns: readonly string[], files: readonly string[], root: string): string[] {
  return patterns
    .filter((pattern) => !files.some((file) => matches(pattern, join(root, file))))
    .map((pattern) => {
      const alike = suggest(relative(root, join(root, pattern)), files);
      return `No test file matches "${pattern}".${alike.length === 0 ? '' : ` Similar names:\n${alike.map((file) => `  ${file}`).join('\n')}`}`;
    });
}

/**
 * Returns true when the pattern matches the path as in Jest: a case-insensitive regular expression that can match
 * anywhere in the path.
 */
function matches(pattern: string, path: string): boolean {
  try {
    return new RegExp(pattern, 'i').test(path);
  } catch {
    return true; // Jest reports the invalid pattern
  }
}

function suggest(requested: string, files: readonly string[]): string[] {
  return files
    .map((file) => ({
      file,
      likeness: Math.max(likenessOf(nameOf(requested), nameOf(file)), likenessOf(requested, file)),
    }))
    .filter(({ likeness }) => likeness >= minLikeness)
    .toSorted((one, other) => other.likeness - one.likeness)
    .slice(0, maxSuggestions)
    .map(({ file }) => file);
}

const nameOf = (path: string): string => basename(path).replace(/(\.(release|drill))?(\.test)?(\.ts)?$/, '');

/** Returns the similarity of two texts from 0 to 1, which is the share of equal pairs of adjacent characters. */
function likenessOf(one: string, other: string): number {
  const [pairs, others] = [pairsOf(one), pairsOf(other)];
  const common = [...pairs].filter((pair) => others.has(pair)).length;
  return (2 * common) / (pairs.size + others.size || 1);
}

function pairsOf(text: string): Set<string> {
  const lower = text.toLowerCase();
  return new Set(Array.from({ length: Math.max(0, lower.length - 1) }, (_, index) => lower.slice(index, index + 2)));
}
