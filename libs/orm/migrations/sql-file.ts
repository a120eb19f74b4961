import { readFileSync } from 'node:fs';

/** Statements of a file of SQL, for `addSql`: parts that blank lines separate, without lines that are comments. */
export function readSqlFile(name: string, migration: ImportMeta): string[] {
  const text = readFileSync(new URL(name, migration.url), 'utf8').replaceAll(/^--.*\n/gm, '');
  return text.split(/\n\n+/).filter((part) => part.trim() !== '');
}
