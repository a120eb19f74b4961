/** Migrations of `npm start`, left out when the embedded database has already had exactly these. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashMigrationSources } from '../migration-sources.ts';
import { pickVariables } from '../../libs/servers/process-environment.ts';
import { runNode } from './run-node.ts';

function pickMigrationVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = Object.keys(env).filter((name) => /^DATABASE_URL(_|$)|^LOG_LEVEL$/.test(name));
  return pickVariables(env, names);
}

export interface Migrations {
  /** False when there is nothing to do. */
  readonly arePending: boolean;
  /** @returns whether the database holds no set-up data yet. */
  run(settings: Readonly<Record<string, string>>): Promise<{ isEmpty: boolean }>;
  /** The database is set up: until the sources change or the database is made anew there is nothing to do. */
  markDone(): void;
}

/** `isEmbedded`: the database lies in `dataDir`; of another one nothing is remembered. */
export function findMigrations(repoDir: string, dataDir: string, isEmbedded: boolean): Migrations {
  const mark = join(dataDir, 'migrated');
  const report = join(dataDir, 'migration-report.json');
  const state = (): string => {
    const secrets = ['postgres.password', 'service-secret'].map((file) => join(dataDir, file)).filter((file) => existsSync(file));
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
