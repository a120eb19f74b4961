import type { MigrationClass } from '#libs/orm';
import { Migration20260101000000_foundation } from './Migration20260101000000_foundation.ts';
import { Migration20260201090000_legacy_transcripts } from './Migration20260201090000_legacy_transcripts.ts';
import { Migration20260304090000_speakers_by_person } from './Migration20260304090000_speakers_by_person.ts';
import { Migration20260404090000_cancelled_jobs } from './Migration20260404090000_cancelled_jobs.ts';

/** In the order in which they run. */
export const migrations: readonly MigrationClass[] = [
  Migration20260101000000_foundation,
  Migration20260201090000_legacy_transcripts,
  Migration20260304090000_speakers_by_person,
  Migration20260404090000_cancelled_jobs,
];
