/** Who was erased is told beside the backups at once where the CLI knows the place, so that the loss of everything does not bring them back. */
import { keepErasures } from '#libs/backup';
import type { CliContext } from '../context.ts';
import { describeFailure } from '../failure.ts';
import { openStore, openTarget } from './settings.ts';

/** A failure is told and no more: the person is erased, and the next backup does it. */
export async function storeErasuresWithBackups(context: CliContext): Promise<void> {
  const store = (context.setting('BACKUP_URL') ?? '') === '' ? undefined : openStore(context);
  if (store === undefined) return;
  try {
    const target = openTarget(context, undefined, 'BACKUP_URL');
    try {
      await keepErasures(store, target);
    } finally {
      target.close();
    }
  } catch (error) {
    process.stderr.write(
      `The erasure is not told beside the backups yet; the next backup does it: ${describeFailure(error).split('\n')[0]}\n`,
    );
  } finally {
    store.close();
  }
}
