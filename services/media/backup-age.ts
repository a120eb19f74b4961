/** What monitoring sees of backups: whether there shall be any, and the age of the newest, by what it left in the object store. */
import { lastBackupKey, type ObjectStore } from '#libs/object-store';
import type { Metrics } from '#libs/telemetry';

export function measureBackups(metrics: Metrics, store: ObjectStore, isExpected: boolean): void {
  metrics.gauge('backup_expected', '1 where `backup create` runs by the clock (BACKUP_EXPECTED)', [], (gauge) =>
    gauge.set(isExpected ? 1 : 0),
  );
  metrics.gauge('backup_age_seconds', 'Seconds since `backup create` last succeeded; absent until it has', [], async (gauge) => {
    const last = await store.head(lastBackupKey);
    if (last !== undefined) gauge.set((Date.now() - last.modifiedAt.getTime()) / 1000);
  });
}
