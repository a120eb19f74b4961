/**
 * Verifies and truncates the audit logs of `npm start` at the start and every day, as a CronJob does elsewhere (A2).
 */
import { join } from 'node:path';
import { pickVariables } from '../../libs/product/servers/process-environment.ts';
import { runNode } from './run-node.ts';
import type { Screen } from './screen.ts';

const dayMs = 24 * 3_600_000;

/**
 * Does nothing without DATABASE_URL_AUDIT, e.g. for an external database. @returns a function that stops the schedule
 */
export function scheduleAuditLogs(
  settings: Readonly<Record<string, string>>,
  { repoDir, dataDir, screen }: { repoDir: string; dataDir: string; screen: Screen },
): () => Promise<void> {
  const url = settings['DATABASE_URL_AUDIT'];
  if (!url) return async () => {};
  const stopping = new AbortController();
  const keep = async (): Promise<void> => {
    try {
      await runNode({
        title: 'The verification of the audit logs',
        repoDir,
        args: ['tools/audit.ts'],
        env: { ...pickVariables(settings, ['LOG_LEVEL', 'AUDIT_RETENTION_DAYS']), DATABASE_URL: url },
        logFile: join(dataDir, 'logs', 'audit.log'),
        signal: stopping.signal,
      });
    } catch (error) {
      if (!stopping.signal.aborted) screen.log((error as Error).message);
    }
  };
  const timer = setInterval(() => void keep(), dayMs);
  void keep();
  return async () => {
    clearInterval(timer);
    stopping.abort();
  };
}
