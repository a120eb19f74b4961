/** Sets the logo of a holon (rules/media#logo; D51). */
import type { PayloadOf } from '#libs/infrastructure/contract';
import { type HistoryContext, historyContextOfJob } from '#libs/product/history';
import type { JobHandler } from '#libs/infrastructure/jobs';
import { media } from '#services/media';
import type { Dependencies } from '../dependencies.ts';
import { holonEvents } from '../events/contract.ts';
import { emitWritten } from '../events/index.ts';
import type { experienceJobs } from './contract.ts';
import { lockForLogo, saveLogo } from './statements.ts';

export type LogoSetting = PayloadOf<typeof experienceJobs.setExperienceLogo>;

type LogoDependencies = Pick<Dependencies, 'jobs' | 'eventOutbox' | 'history'>;

/** The cause of the change: the upload, whose caller media names. */
function causeOf(changedBy: LogoSetting['changed_by']): HistoryContext {
  if (changedBy === undefined) return historyContextOfJob;
  const { account_id: accountId, key_id: keyId, via } = changedBy;
  const noRights = { personId: null, superuser: false, globalEditor: false, coherenceAccess: false };
  const key = keyId === null ? {} : { key: { id: keyId, scopes: [] } };
  return { ...historyContextOfJob, via, actor: { kind: 'user', accountId, ...noRights, ...key } };
}

/** Sets the logo, unless a newer logo is set. */
export async function setLogo(
  { jobs, eventOutbox, history }: LogoDependencies,
  { experience_id: id, logo_url: url, blob_id: blobId, changed_by: changedBy }: LogoSetting,
): Promise<void> {
  await jobs.transaction(async (tx) => {
    if ((await lockForLogo(tx, { id })) === undefined) {
      await jobs.enqueue(tx, media.jobs.retireLogo, { holon_id: id }); // deleted during the upload
      return;
    }
    await history.recordChanges(tx, causeOf(changedBy), 'holons', [id]);
    const saved = await saveLogo(tx, { id, url, blobId });
    if (saved === undefined) return;
    await jobs.emit(tx, holonEvents.holonsChanged, { ids: [id] });
    await emitWritten(eventOutbox, tx, 'holon', 'updated', [id]);
  });
}

/** Returns the handler of the job `directory.set-logo`, which sets the logo when the call from media failed. */
export function createSetLogo(deps: LogoDependencies): JobHandler<LogoSetting> {
  return ({ payload }) => setLogo(deps, payload);
}
