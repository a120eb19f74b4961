import type { MigrationClass } from '#libs/orm';
import { Migration20260101000000_foundation } from './Migration20260101000000_foundation.ts';
import { Migration20260201000000_search } from './Migration20260201000000_search.ts';
import { Migration20260201090000_import_keys } from './Migration20260201090000_import_keys.ts';
import { Migration20260301100000_meeting_receipts } from './Migration20260301100000_meeting_receipts.ts';
import { Migration20260401090000_data_size } from './Migration20260401090000_data_size.ts';
import { Migration20260401100000_receipt_bodies } from './Migration20260401100000_receipt_bodies.ts';
import { Migration20260401110000_deleted_conversations } from './Migration20260401110000_deleted_conversations.ts';
import { Migration20260404090000_cancelled_jobs } from './Migration20260404090000_cancelled_jobs.ts';
import { Migration20260405090000_audit_log } from './Migration20260405090000_audit_log.ts';
import { Migration20260405100000_signed_receipts } from './Migration20260405100000_signed_receipts.ts';
import { Migration20260501110000_job_attempts } from './Migration20260501110000_job_attempts.ts';
import { Migration20260501120000_receipt_search } from './Migration20260501120000_receipt_search.ts';
import { Migration20260601100000_feed } from './Migration20260601100000_feed.ts';
import { Migration20260720090000_handed_over_jobs } from './Migration20260720090000_handed_over_jobs.ts';
import { Migration20260815090000_pipeline_steps } from './Migration20260815090000_pipeline_steps.ts';

/** The service's history, in order. */ import { Migration20260901090000_failed_jobs } from './Migration20260901090000_failed_jobs.ts';

export const migrations: readonly MigrationClass[] = [
  Migration20260101000000_foundation,
  Migration20260201000000_search,
  Migration20260201090000_import_keys,
  Migration20260301100000_meeting_receipts,
  Migration20260401090000_data_size,
  Migration20260401100000_receipt_bodies,
  Migration20260401110000_deleted_conversations,
  Migration20260404090000_cancelled_jobs,
  Migration20260405090000_audit_log,
  Migration20260405100000_signed_receipts,
  Migration20260501110000_job_attempts,
  Migration20260501120000_receipt_search,
  Migration20260601100000_feed,
  Migration20260720090000_handed_over_jobs,
  Migration20260815090000_pipeline_steps,
  Migration20260901090000_failed_jobs,
];
