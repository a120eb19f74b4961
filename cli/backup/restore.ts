/** `backup restore`, into an empty installation without running services. */
import { type BackupTarget, afterRows, createUnseal, type Manifest, restoreBackup } from '#libs/product/backup';
import { createLogger } from '#libs/infrastructure/logger';
import { listMigrations } from '#libs/infrastructure/release';
import { migrateServices, readAuditUrl, readServiceUrls } from '#libs/infrastructure/migrations';
import type { CliContext } from '../context.ts';
import { CliError } from '../failure.ts';
import { fields } from '../output/table.ts';
import { createProgress } from './progress.ts';
import { listRunning, rebuildQueues } from './queues.ts';
import { openStore, readDatabaseUrl, readIdentities } from './settings.ts';

export async function restore(
  context: CliContext,
  target: BackupTarget,
  manifest: Manifest,
  options: { readonly identityFile?: string; readonly allowPlain?: true },
): Promise<void> {
  const url = readDatabaseUrl(context);
  const running = await listRunning(context);
  if (running.length > 0) throw new CliError(`Stop the services first. Running: ${running.join(', ')}.`);
  const identities = readIdentities(context, options.identityFile);
  // An attacker with write access to the backups can forge an unencrypted backup, but not a backup that is encrypted
  // for these keys.
  if (manifest.encrypted_to.length === 0 && identities.length > 0 && options.allowPlain !== true) {
    throw new CliError(
      `${manifest.id} is not encrypted although a secret key is set: it may be forged. If you trust it, use --allow-plain.`,
    );
  }
  const unseal = createUnseal(manifest.encrypted_to, identities);
  const logger = createLogger({ service: 'restore', level: 'silent' });
  const settings = context.settings();
  const serviceUrls = readServiceUrls(settings);
  const store = openStore(context);
  try {
    const restored = await restoreBackup({
      url,
      target,
      manifest,
      unseal,
      store,
      known: listMigrations(),
      migrate: async (only) => {
        // Grants need all tables of this release, so they are granted in the last step only.
        const roles = only === undefined ? { serviceUrls, auditUrl: readAuditUrl(settings) } : {};
        await migrateServices({ url, logger, only, ...roles });
      },
      onProgress: createProgress(),
    });
    const queues = await afterRows(() => rebuildQueues(context, url));
    const hasRoles = Object.values(serviceUrls).some((address) => address !== undefined);
    context.print(
      { id: manifest.id, taken_at: manifest.taken_at, ...restored, queues },
      fields({
        restored: manifest.id,
        objects:
          restored.objects === null
            ? 'none in the backup'
            : `${restored.objects.restored} restored, ${restored.objects.present} existed`,
        erasures: `${restored.erasures} copied from the backup location`,
        queues: `${queues.jobs} jobs and ${queues.outbox} messages will be sent${queues.dropped === null ? '' : `, ${queues.dropped} old messages dropped`}`,
        rights: hasRoles ? null : 'missing: run tools/migrate.ts with the addresses of the services to grant them',
        next: 'start the services, then `doctor --after-restore`',
      }),
    );
  } finally {
    store?.close();
  }
}
