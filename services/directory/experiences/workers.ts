/** Makes a stored picture the logo of a holon (rules/media#logo; D51). */
import type { PayloadOf } from '#libs/contract';
import type { EventOutbox } from '#libs/feed';
import type { JobHandler, Jobs } from '#libs/jobs';
import { holonEvents } from '../events/contract.ts';
import { tellWritten } from '../events/index.ts';
import type { experienceJobs } from './contract.ts';
import { saveLogo } from './statements.ts';

export type LogoSetting = PayloadOf<typeof experienceJobs.setExperienceLogo>;

/** An older picture than the one that is set changes nothing. */
export async function setLogo(
  { jobs, eventOutbox }: { jobs: Jobs; eventOutbox: EventOutbox },
  { experience_id: id, logo_url: url, blob_id: blobId }: LogoSetting,
): Promise<void> {
  await jobs.transaction(async (tx) => {
    const saved = await saveLogo(tx, { id, url, blobId });
    if (saved === undefined) return;
    await jobs.emit(tx, holonEvents.holonsChanged, { ids: [id] });
    await tellWritten(eventOutbox, tx, 'holon', 'updated', [id]);
  });
}

/** Job `directory.set-logo`: as the operation, for when the media service could not reach it. */
export function createSetLogo(deps: { jobs: Jobs; eventOutbox: EventOutbox }): JobHandler<LogoSetting> {
  return ({ payload }) => setLogo(deps, payload);
}
