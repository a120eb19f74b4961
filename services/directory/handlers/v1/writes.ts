/** Writes of the open API to people and holons (rules/people#create-a-person): what they need is joined here. */
import type { Jobs } from '#libs/jobs';
import type { Database } from '#libs/orm';
import { createCreatePerson } from '../../people/handlers/create.ts';
import { createExperienceHandlers } from '../../experiences/handlers.ts';
import { createUpdateHolon } from '../../holons/handlers/update.ts';

export function createWriteHandlers({ db, jobs }: { readonly db: Database; readonly jobs: Jobs }) {
  return {
    createPerson: createCreatePerson(jobs),
    updateHolon: createUpdateHolon(jobs),
    ...createExperienceHandlers({ db, jobs }),
  };
}
