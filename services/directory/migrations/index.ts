import type { MigrationClass } from '#libs/orm';
import { Migration20260101000100_people_and_accounts } from './Migration20260101000100_people_and_accounts.ts';
import { Migration20260101000200_classes_journeys_holons } from './Migration20260101000200_classes_journeys_holons.ts';
import { Migration20260101000300_memberships_and_notes } from './Migration20260101000300_memberships_and_notes.ts';
import { Migration20260101000400_jobs } from './Migration20260101000400_jobs.ts';
import { Migration20260302090000_worklist } from './Migration20260302090000_worklist.ts';
import { Migration20260302100000_open_api_writes } from './Migration20260302100000_open_api_writes.ts';
import { Migration20260303090000_usage_counts } from './Migration20260303090000_usage_counts.ts';
import { Migration20260303090100_search_columns } from './Migration20260303090100_search_columns.ts';
import { Migration20260304090000_erasures } from './Migration20260304090000_erasures.ts';
import { Migration20260305090000_team_authority } from './Migration20260305090000_team_authority.ts';
import { Migration20260305090100_short_grams } from './Migration20260305090100_short_grams.ts';
import { Migration20260305090200_search_terms } from './Migration20260305090200_search_terms.ts';
import { Migration20260306090000_long_grams } from './Migration20260306090000_long_grams.ts';
import { Migration20260306090100_search_grams } from './Migration20260306090100_search_grams.ts';
import { Migration20260402090000_search_horizon } from './Migration20260402090000_search_horizon.ts';
import { Migration20260404090000_cancelled_jobs } from './Migration20260404090000_cancelled_jobs.ts';
import { Migration20260405090000_audit_log } from './Migration20260405090000_audit_log.ts';
import { Migration20260405090000_service_keys } from './Migration20260405090000_service_keys.ts';
import { Migration20260501110000_job_attempts } from './Migration20260501110000_job_attempts.ts';
import { Migration20260601090000_kept_answers } from './Migration20260601090000_kept_answers.ts';
import { Migration20260602090000_identities } from './Migration20260602090000_identities.ts';
import { Migration20260603090000_merged_people } from './Migration20260603090000_merged_people.ts';
import { Migration20260604090000_feed } from './Migration20260604090000_feed.ts';
import { Migration20260720090000_handed_over_jobs } from './Migration20260720090000_handed_over_jobs.ts';
import { Migration20260815090000_unlinked_accounts } from './Migration20260815090000_unlinked_accounts.ts';
import { Migration20260815100000_console_sessions } from './Migration20260815100000_console_sessions.ts';
import { Migration20260815110000_steps_by_slug } from './Migration20260815110000_steps_by_slug.ts';

/** History of the schema `directory`, oldest first. */ import { Migration20260901090000_failed_jobs } from './Migration20260901090000_failed_jobs.ts';

export const migrations: readonly MigrationClass[] = [
  Migration20260101000100_people_and_accounts,
  Migration20260101000200_classes_journeys_holons,
  Migration20260101000300_memberships_and_notes,
  Migration20260101000400_jobs,
  Migration20260302090000_worklist,
  Migration20260302100000_open_api_writes,
  Migration20260303090000_usage_counts,
  Migration20260303090100_search_columns,
  Migration20260304090000_erasures,
  Migration20260305090000_team_authority,
  Migration20260305090100_short_grams,
  Migration20260305090200_search_terms,
  Migration20260306090000_long_grams,
  Migration20260306090100_search_grams,
  Migration20260402090000_search_horizon,
  Migration20260404090000_cancelled_jobs,
  Migration20260405090000_audit_log,
  Migration20260405090000_service_keys,
  Migration20260501110000_job_attempts,
  Migration20260601090000_kept_answers,
  Migration20260602090000_identities,
  Migration20260603090000_merged_people,
  Migration20260604090000_feed,
  Migration20260720090000_handed_over_jobs,
  Migration20260815090000_unlinked_accounts,
  Migration20260815100000_console_sessions,
  Migration20260815110000_steps_by_slug,
  Migration20260901090000_failed_jobs,
];
