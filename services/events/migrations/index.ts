import type { MigrationClass } from '#libs/orm';
import { Migration20260601090000_foundation } from './Migration20260601090000_foundation.ts';
import { Migration20260604090000_reading } from './Migration20260604090000_reading.ts';
import { Migration20260702100000_webhooks } from './Migration20260702100000_webhooks.ts';
import { Migration20260720090000_handed_over_jobs } from './Migration20260720090000_handed_over_jobs.ts';
import { Migration20260727090000_wanted_types } from './Migration20260727090000_wanted_types.ts';
import { Migration20260801090000_seldom_touched } from './Migration20260801090000_seldom_touched.ts';
import { Migration20260901090000_failed_jobs } from './Migration20260901090000_failed_jobs.ts';
import { Migration20260902090000_subjects_by_holons } from './Migration20260902090000_subjects_by_holons.ts';

/** In the order in which they run. */
export const migrations: readonly MigrationClass[] = [
  Migration20260601090000_foundation,
  Migration20260604090000_reading,
  Migration20260702100000_webhooks,
  Migration20260720090000_handed_over_jobs,
  Migration20260727090000_wanted_types,
  Migration20260801090000_seldom_touched,
  Migration20260901090000_failed_jobs,
  Migration20260902090000_subjects_by_holons,
];
