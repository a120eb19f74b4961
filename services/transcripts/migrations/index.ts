import type { MigrationClass } from '#libs/orm';
import { Migration20260101000000_foundation } from './Migration20260101000000_foundation.ts';
import { Migration20260201090000_legacy_transcripts } from './Migration20260201090000_legacy_transcripts.ts';
import { Migration20260304090000_speakers_by_person } from './Migration20260304090000_speakers_by_person.ts';
import { Migration20260404090000_cancelled_jobs } from './Migration20260404090000_cancelled_jobs.ts';
import { Migration20260405090000_audit_log } from './Migration20260405090000_audit_log.ts';
import { Migration20260501100000_search } from './Migration20260501100000_search.ts';
import { Migration20260501110000_job_attempts } from './Migration20260501110000_job_attempts.ts';
import { Migration20260601100000_feed } from './Migration20260601100000_feed.ts';
import { Migration20260602090000_search_by_journey } from './Migration20260602090000_search_by_journey.ts';
import { Migration20260720090000_handed_over_jobs } from './Migration20260720090000_handed_over_jobs.ts';
import { Migration20260901090000_failed_jobs } from './Migration20260901090000_failed_jobs.ts';

/** In the order in which they run. */
export const migrations: readonly MigrationClass[] = [
  Migration20260101000000_foundation,
  Migration20260201090000_legacy_transcripts,
  Migration20260304090000_speakers_by_person,
  Migration20260404090000_cancelled_jobs,
  Migration20260405090000_audit_log,
  Migration20260501100000_search,
  Migration20260501110000_job_attempts,
  Migration20260601100000_feed,
  Migration20260602090000_search_by_journey,
  Migration20260720090000_handed_over_jobs,
  Migration20260901090000_failed_jobs,
];
