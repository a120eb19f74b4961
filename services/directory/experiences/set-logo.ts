/** Makes a stored picture the logo of a holon (rules/media#logo; D51). */
import type { PayloadOf } from '#libs/contract';
import type { EventOutbox } from '#libs/feed';
import type { Jobs } from '#libs/jobs';
import { directory } from '../contract.ts';
import { tellWritten } from '../feed/index.ts';
import { saveLogo } from './statements.ts';

export type LogoSetting = PayloadOf<typeof directory.jobs.setExperienceLogo>;

/** An older picture than the one that is set changes nothing. */
export async function setLogo(
  { jobs, eventOutbox }: { jobs: Jobs; eventOutbox: EventOutbox },
  { experience_id: id, logo_url: url, blob_id: blobId }: LogoSetting,
): Promise<void> {
  await jobs.transaction(async (tx) => {
    const saved = await saveLogo(tx, { id, url, blobId });
    if (saved === undefined) return;
    await jobs.emit(tx, directory.events.holonsChanged, { ids: [id] });
    await tellWritten(eventOutbox, tx, 'holon', 'updated', [id]);
  });
}
