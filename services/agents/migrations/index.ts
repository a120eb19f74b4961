import type { MigrationClass } from '#libs/orm';
import { Migration20260106090000_agents } from './Migration20260106090000_agents.ts';
import { Migration20260301090000_memory } from './Migration20260301090000_memory.ts';
import { Migration20260302090000_telegram } from './Migration20260302090000_telegram.ts';
import { Migration20260402090000_token_budgets } from './Migration20260402090000_token_budgets.ts';
import { Migration20260402100000_knowledge_review } from './Migration20260402100000_knowledge_review.ts';
import { Migration20260402110000_receipt_bodies } from './Migration20260402110000_receipt_bodies.ts';
import { Migration20260404090000_cancelled_jobs } from './Migration20260404090000_cancelled_jobs.ts';
import { Migration20260405090000_audit_log } from './Migration20260405090000_audit_log.ts';
import { Migration20260501110000_job_attempts } from './Migration20260501110000_job_attempts.ts';
import { Migration20260501120000_receipt_search } from './Migration20260501120000_receipt_search.ts';
import { Migration20260702090000_handover } from './Migration20260702090000_handover.ts';
import { Migration20260720090000_handed_over_jobs } from './Migration20260720090000_handed_over_jobs.ts';
import { Migration20260820090000_receipt_headers } from './Migration20260820090000_receipt_headers.ts';
import { Migration20260901090000_failed_jobs } from './Migration20260901090000_failed_jobs.ts';

/** In the order of their names. */
export const migrations: readonly MigrationClass[] = [
  Migration20260106090000_agents,
  Migration20260301090000_memory,
  Migration20260302090000_telegram,
  Migration20260402090000_token_budgets,
  Migration20260402100000_knowledge_review,
  Migration20260402110000_receipt_bodies,
  Migration20260404090000_cancelled_jobs,
  Migration20260405090000_audit_log,
  Migration20260501110000_job_attempts,
  Migration20260501120000_receipt_search,
  Migration20260702090000_handover,
  Migration20260720090000_handed_over_jobs,
  Migration20260820090000_receipt_headers,
  Migration20260901090000_failed_jobs,
];
