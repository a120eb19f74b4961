/** Parses the imports of a file from its text. */
import { dirname, join, normalize } from 'node:path/posix';
import type { SourceFile } from './sources.ts';

export interface Import {
  readonly specifier: string;
  /** Removed when types are stripped, so not loaded. */
  readonly isType: boolean;
  /** Loaded on first use. */
  readonly isLazy: boolean;
}

const statementPattern =
  /(?:^|[\s;])(?:import|export)\s(?:([^'"`;]*?)\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

export function listImports(text: string): Import[] {
  return [...text.matchAll(statementPattern)].map(([, names = '', stated, loaded]) => ({
    specifier: stated ?? loaded ?? '',
    isLazy: loaded !== undefined,
    isType: /^type\s/.test(names) || /^\{(\s*type\s[^,}]+,?)+\s*\}$/.test(names.trim()),
  }));
}

/** Returns the imported file of the repository, if any. */
export function resolveImport(path: string, specifier: string): string[] {
  if (specifier.startsWith('.')) return [normalize(join(dirname(path), specifier))];
  const [, kind, name] = /^#(libs|services)\/(.+)$/.exec(specifier) ?? [];
  return kind === undefined ? [] : [`${kind}/${name}/${kind === 'libs' ? 'index' : 'contract'}.ts`];
}

/** Returns the files of the repository loaded with a file, including lazily loaded ones unless excluded. */
export function listLoaded(files: readonly SourceFile[], path: string, { withLazy = true } = {}): Set<string> {
  const texts = new Map(files.map((file) => [file.path, file.text]));
  const loaded = new Set<string>();
  const visit = (from: string): void => {
    const text = texts.get(from);
    if (text === undefined || loaded.has(from)) return;
    loaded.add(from);
    for (const { specifier, isType, isLazy } of listImports(text)) {
      if (!isType && (withLazy || !isLazy)) resolveImport(from, specifier).forEach(visit);
    }
  };
  visit(path);
  return loaded;
}
