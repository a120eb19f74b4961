import { readFileSync } from 'node:fs';

/** Statements of an SQL file for `addSql`: separated by blank lines, without comment lines. */
export function readSqlFile(name: string, migration: ImportMeta): string[] {
  const text = readFileSync(new URL(name, migration.url), 'utf8').replaceAll(/^--.*\n/gm, '');
  return text.split(/\n\n+/).filter((part) => part.trim() !== '');
}
