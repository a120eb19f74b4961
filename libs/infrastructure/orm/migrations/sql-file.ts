import { readFileSync } from 'node:fs';

/**
 * Returns the statements of an SQL file for `addSql`. The statements are separated by blank lines; comment lines are
 * removed.
 */
export function readSqlFile(name: string, migration: ImportMeta): string[] {
  const text = readFileSync(new URL(name, migration.url), 'utf8').replaceAll(/^--.*\n/gm, '');
  return text.split(/\n\n+/).filter((part) => part.trim() !== '');
}
