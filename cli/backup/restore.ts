/** `backup restore`: into an empty installation in which no service runs. */
import { type BackupTarget, behindRows, createUnseal, type Manifest, restoreBackup } from '#libs/backup';
import { createLogger } from '#libs/logger';
import { listMigrations } from '#libs/release';
import { migrateServices, readAuditUrl, readServiceUrls } from '#libs/migrations';
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
  if (running.length > 0) throw new CliError(`Stop the services first; these answer: ${running.join(', ')}.`);
  const identities = readIdentities(context, options.identityFile);
  // Whoever can write where backups are kept can make a plain one, but none that the keys open.
  if (manifest.encrypted_to.length === 0 && identities.length > 0 && options.allowPlain !== true) {
    throw new CliError(
      `${manifest.id} is not encrypted, although a secret key is given: it may have been put in the place of yours. If it is the right one, use --allow-plain.`,
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
        // Rights come with the last migration: they are about tables of this release.
        const roles = only === undefined ? { serviceUrls, auditUrl: readAuditUrl(settings) } : {};
        await migrateServices({ url, logger, only, ...roles });
      },
      onProgress: createProgress(),
    });
    const queues = await behindRows(() => rebuildQueues(context, url));
    const hasRoles = Object.values(serviceUrls).some((address) => address !== undefined);
    context.print(
      { id: manifest.id, taken_at: manifest.taken_at, ...restored, queues },
      fields({
        restored: manifest.id,
        objects:
          restored.objects === null
            ? 'none in the backup'
            : `${restored.objects.restored} restored, ${restored.objects.present} were there`,
        erasures: `${restored.erasures} brought from beside the backups`,
        queues: `${queues.jobs} jobs and ${queues.outbox} messages will be sent${queues.dropped === null ? '' : `, ${queues.dropped} old messages dropped`}`,
        rights: hasRoles ? null : 'run tools/migrate.ts with the addresses of the services: their roles have no rights in the new schemas',
        next: 'start the services, then `doctor --after-restore`',
      }),
    );
  } finally {
    store?.close();
  }
}
