/** Parses the imports of a file from its text. */
import { dirname, join, normalize } from 'node:path/posix';
import type { SourceFile } from './sources.ts';

export interface Import {
  readonly specifier: string;
  /** Type-only imports are removed when types are stripped, so they load nothing. */
  readonly isType: boolean;
  /** Lazy imports are loaded on first use. */
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

/** Returns the repository file that the specifier refers to; empty for packages and Node modules. */
export function resolveImport(path: string, specifier: string): string[] {
  if (specifier.startsWith('.')) return [normalize(join(dirname(path), specifier))];
  const [, kind, name] = /^#(libs|services)\/(.+)$/.exec(specifier) ?? [];
  return kind === undefined ? [] : [`${kind}/${name}/${kind === 'libs' ? 'index' : 'contract'}.ts`];
}

/** Returns the repository files that are loaded with a file. `withLazy: false` excludes lazily loaded files. */
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
