/** What a file imports, read from its text. */
export interface Import {
  readonly specifier: string;
  /** Gone when the types are stripped: nothing of it is loaded. */
  readonly isType: boolean;
}

const statementPattern = /(?:^|[\s;])(?:import|export)\s(?:([^'"`;]*?)\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

export function listImports(text: string): Import[] {
  return [...text.matchAll(statementPattern)].map(([, names = '', stated, loaded]) => ({
    specifier: stated ?? loaded ?? '',
    isType: /^type\s/.test(names) || /^\{(\s*type\s[^,}]+,?)+\s*\}$/.test(names.trim()),
  }));
}
