/** Runs the migrations of `npm start`. They are skipped when the embedded database is up to date. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashMigrationSources } from '../migration-sources.ts';
import { pickVariables } from '../../libs/product/servers/process-environment.ts';
import { runNode } from './run-node.ts';

function pickMigrationVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = Object.keys(env).filter((name) => /^DATABASE_URL(_|$)|^LOG_LEVEL$/.test(name));
  return pickVariables(env, names);
}

export interface Migrations {
  /** False when the database is up to date. */
  readonly arePending: boolean;
  /** @returns true when the database has no set-up data */
  run(settings: Readonly<Record<string, string>>): Promise<{ isEmpty: boolean }>;
  /** Records that the database is up to date with the current sources. */
  markDone(): void;
}

/** @param isEmbedded the database is in `dataDir`; the state of external databases is not recorded */
export function findMigrations(repoDir: string, dataDir: string, isEmbedded: boolean): Migrations {
  const mark = join(dataDir, 'migrated');
  const report = join(dataDir, 'migration-report.json');
  const state = (): string => {
    const secrets = ['postgres.password', 'service-secret']
      .map((file) => join(dataDir, file))
      .filter((file) => existsSync(file));
    return [hashMigrationSources(repoDir), ...secrets.map((file) => readFileSync(file, 'utf8').trim())].join(' ');
  };
  return {
    arePending: !isEmbedded || !existsSync(mark) || readFileSync(mark, 'utf8') !== state(),
    run: async (settings) => {
      rmSync(mark, { force: true });
      const args = ['tools/migrate.ts', '--report', report];
      await runNode({
        title: 'The migration of the database',
        repoDir,
        args,
        env: pickMigrationVariables({ ...process.env, ...settings }),
        logFile: join(dataDir, 'logs', 'migrate.log'),
      });
      return JSON.parse(readFileSync(report, 'utf8')) as { isEmpty: boolean };
    },
    markDone: () => {
      if (isEmbedded) writeFileSync(mark, state(), { mode: 0o600 });
    },
  };
}
