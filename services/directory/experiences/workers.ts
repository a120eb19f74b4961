/** Sets the logo of a holon (rules/media#logo; D51). */
import type { PayloadOf } from '#libs/contract';
import type { JobHandler } from '#libs/jobs';
import type { Dependencies } from '../dependencies.ts';
import { holonEvents } from '../events/contract.ts';
import { emitWritten } from '../events/index.ts';
import type { experienceJobs } from './contract.ts';
import { saveLogo } from './statements.ts';

export type LogoSetting = PayloadOf<typeof experienceJobs.setExperienceLogo>;

/** Sets the logo, unless a newer logo is set. */
export async function setLogo(
  { jobs, eventOutbox }: Pick<Dependencies, 'jobs' | 'eventOutbox'>,
  { experience_id: id, logo_url: url, blob_id: blobId }: LogoSetting,
): Promise<void> {
  await jobs.transaction(async (tx) => {
    const saved = await saveLogo(tx, { id, url, blobId });
    if (saved === undefined) return;
    await jobs.emit(tx, holonEvents.holonsChanged, { ids: [id] });
    await emitWritten(eventOutbox, tx, 'holon', 'updated', [id]);
  });
}

/** Returns the handler of the job `directory.set-logo`, which sets the logo when the call from media failed. */
export function createSetLogo(deps: Pick<Dependencies, 'jobs' | 'eventOutbox'>): JobHandler<LogoSetting> {
  return ({ payload }) => setLogo(deps, payload);
}
