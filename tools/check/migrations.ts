/**
 * `node tools/check/migrations.ts` rejects migrations that would block requests on tables with rows. It checks the
 * statements of all migrations since the last release with squawk (https://squawkhq.com) and rules of this project
 * (CONTRIBUTING.md#migrations).
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MigrationClass, OnlineMigration } from '#libs/infrastructure/orm/migrations';
import { listMigrations } from '#libs/infrastructure/release';
import previous from '../../test/e2e/previous-release.json' with { type: 'json' };
import { loadMigration } from '#libs/infrastructure/migrations';

export interface CheckedMigration {
  readonly schema: string;
  readonly Class: MigrationClass;
}

interface Statement {
  readonly sql: string;
  readonly isBackfill: boolean;
}
/** The statements of one transaction, or one statement outside a transaction. */
interface Unit {
  readonly migration: string;
  readonly statements: readonly Statement[];
  readonly isConcurrent: boolean;
}

const squawk = join(import.meta.dirname, '..', '..', 'node_modules', '.bin', 'squawk');
/**
 * Squawk rules that are not applied: style rules, and statement timeouts, since lock timeouts already limit the effect
 * on requests.
 */
const excluded = [
  'ban-char-field',
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'prefer-identity',
  'prefer-robust-stmts',
  'prefer-text-field',
  'prefer-timestamptz',
  'require-statement-timeout',
];
/** Setting of every migration session (libs/infrastructure/orm/migrations). */
const session = `set lock_timeout = '2s';`;

/** Tables that the migrations create are not checked, since they have no rows. @returns one line per problem */
export async function findMigrationProblems(migrations: readonly CheckedMigration[]): Promise<string[]> {
  const units = (await Promise.all(migrations.map(collectUnits))).flat();
  const all = units.flatMap(({ statements }) => statements.map(({ sql }) => sql));
  const tables = new Set(all.flatMap((sql) => [...sql.matchAll(createTable)].map(([, name = '']) => name)));
  const indexes = all.flatMap((sql) =>
    [...sql.matchAll(createIndex)].flatMap(([, index, table = '', schema]) =>
      tables.has(table) ? [`${schema}.${index}`] : [],
    ),
  );
  const created = new Set([...tables, ...indexes]);
  for (const [, schema, name, now] of all.flatMap((sql) => [...sql.matchAll(renameIndex)])) {
    if (created.has(`${schema}.${name}`)) created.add(`${schema}.${now}`);
  }
  const schemas = new Set(migrations.map(({ schema }) => schema));
  return [...units.flatMap((unit) => findOwnProblems(unit, schemas, created)), ...lintStatements(units, created)];
}

const createTable = /\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(\w+\.\w+)/gi;
const createIndex = /\bcreate\s+(?:unique\s+)?index\s+(\w+)\s+on\s+((\w+)\.\w+)/gi;
const renameIndex = /\balter\s+index\s+(\w+)\.(\w+)\s+rename\s+to\s+(\w+)/gi;
/** Matches the table or index that a statement changes. */
const subject =
  /\b(?:alter\s+table(?:\s+only)?|index\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?\w+\s+on|drop\s+index(?:\s+if\s+exists)?)\s+(\w+\.\w+)/i;

async function collectUnits({ Class }: CheckedMigration): Promise<Unit[]> {
  const migration = new Class();
  await migration.up();
  const { name } = Class;
  if (!(migration instanceof OnlineMigration)) {
    const statements = migration.getQueries().map((sql) => ({ sql: sql as string, isBackfill: false }));
    return [{ migration: name, statements, isConcurrent: false }];
  }
  const sent = migration.steps.filter(({ work }) => work === undefined);
  return sent.map(({ sql, backfill }) => ({
    migration: name,
    statements: [{ sql, isBackfill: backfill !== undefined }],
    isConcurrent: /^\s*(create|drop)\b.*\bindex\s+concurrently\b/i.test(sql),
  }));
}

/** Checks the rules of this project, which squawk does not have. */
function findOwnProblems(unit: Unit, schemas: ReadonlySet<string>, created: ReadonlySet<string>): string[] {
  const problem = (rule: string, text: string, sql: string): string => describe(unit.migration, rule, text, sql);
  return unit.statements.flatMap(({ sql, isBackfill }) => {
    if (/\bset\s+(local\s+|session\s+)?(lock|statement)_timeout\b/i.test(sql) && !/^\s*create\b/i.test(sql)) {
      return [problem('keep-lock-timeout', 'The session of a migration has a lock timeout already.', sql)];
    }
    if (/^\s*do\b/i.test(sql))
      return [problem('no-anonymous-block', 'This check does not see the statements of a DO block.', sql)];
    if (isBackfill && !(/>\s*\$1\b/.test(sql) && /<=\s*\$2\b/.test(sql))) {
      return [problem('bound-batches', 'A batch must change the rows with a key > $1 and <= $2 alone.', sql)];
    }
    if (!/^\s*(insert|update|delete|merge|with|truncate)\b/i.test(sql) || isBackfill) return [];
    const used = [...sql.matchAll(/\b(\w+)\.(\w+)\b(?!\s*\()/g)].filter(
      ([name, schema = '']) => schemas.has(schema) && !created.has(name),
    );
    if (used.length === 0) return [];
    return [
      problem(
        'batch-changes-of-rows',
        `Rows of ${used[0]?.[0]} are read or changed in one transaction: use addBackfill.`,
        sql,
      ),
    ];
  });
}

function lintStatements(units: readonly Unit[], created: ReadonlySet<string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  try {
    const files = units.map((unit, index) => {
      const file = join(folder, `${index}.sql`);
      const texts = [
        ...(unit.isConcurrent ? [] : [session]),
        ...unit.statements.map(({ sql }) => `${sql.trim().replace(/;$/, '')};`),
      ];
      writeFileSync(file, texts.join('\n'));
      // Maps each line of the file to its statement.
      return { file, unit, lines: texts.flatMap((text) => text.split('\n').map(() => text)) };
    });
    return [true, false].flatMap((isConcurrent) => {
      const checked = files.filter(({ unit }) => unit.isConcurrent === isConcurrent);
      const findings = runSquawk(
        checked.map(({ file }) => file),
        isConcurrent,
      );
      return findings.flatMap((finding) => {
        const found = checked.find(({ file }) => file === finding.file);
        const sql = found?.lines[finding.line] ?? '';
        if (created.has(subject.exec(sql)?.[1] ?? '')) return [];
        return [describe(found?.unit.migration ?? finding.file, finding.rule_name, finding.message, sql)];
      });
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Finding {
  readonly file: string;
  /** From 0. */
  readonly line: number;
  readonly rule_name: string;
  readonly message: string;
}

function runSquawk(files: readonly string[], isConcurrent: boolean): Finding[] {
  if (files.length === 0) return [];
  // A concurrent statement needs no lock timeout: it waits for its lock without blocking readers or writers
  // (libs/infrastructure/orm/migrations/online.ts).
  const rules = isConcurrent ? [...excluded, 'require-lock-timeout'] : excluded;
  const args = [
    '--reporter',
    'json',
    '--pg-version',
    '16',
    '--exclude',
    rules.join(','),
    ...(isConcurrent ? [] : ['--assume-in-transaction']),
  ];
  try {
    execFileSync(squawk, [...args, ...files], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    return [];
  } catch (error) {
    const { stdout, status } = error as { stdout?: string; status?: number };
    if (status !== 1 || stdout === undefined || stdout === '') throw error;
    return JSON.parse(stdout) as Finding[];
  }
}

const describe = (migration: string, rule: string, text: string, sql: string): string =>
  `${migration}: ${rule}: ${text} ${sql.replaceAll(/\s+/g, ' ').trim().slice(0, 100)}`;

/** Returns the migrations since the last release. */
async function loadMigrationsSinceRelease(): Promise<CheckedMigration[]> {
  const names = Object.entries(listMigrations()).flatMap(([schema, all]) => all.map((name) => ({ schema, name })));
  const isNew = ({ name }: { name: string }): boolean =>
    name.slice('Migration'.length, 'Migration'.length + 14) > previous.lastMigration;
  return Promise.all(
    names.filter(isNew).map(async ({ schema, name }) => ({ schema, Class: await loadMigration(schema, name) })),
  );
}

if (import.meta.main) {
  const problems = await findMigrationProblems(await loadMigrationsSinceRelease());
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
