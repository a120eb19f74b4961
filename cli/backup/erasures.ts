/** Stores erasure records beside the backups at once, so that a restore after a total loss erases the people again. */
import { keepErasures } from '#libs/product/backup';
import type { CliContext } from '../context.ts';
import { describeFailure } from '../failure.ts';
import { openStore, openTarget } from './settings.ts';

/**
 * Stores the erasure records at BACKUP_URL; does nothing without BACKUP_URL. A failure is only printed, since the next
 * backup stores the records.
 */
export async function storeErasuresWithBackups(context: CliContext): Promise<void> {
  const store = (context.setting('BACKUP_URL') ?? '') === '' ? undefined : openStore(context);
  if (store === undefined) return;
  try {
    const target = openTarget(context, undefined);
    try {
      await keepErasures(store, target);
    } finally {
      target.close();
    }
  } catch (error) {
    process.stderr.write(
      `The erasure record was not stored beside the backups; the next backup stores it: ${describeFailure(error).split('\n')[0]}\n`,
    );
  } finally {
    store.close();
  }
}
