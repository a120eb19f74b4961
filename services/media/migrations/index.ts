import type { MigrationClass } from '#libs/orm';
import { Migration20260105090000_media } from './Migration20260105090000_media.ts';
import { Migration20260301090000_recording_imports } from './Migration20260301090000_recording_imports.ts';
import { Migration20260305090000_videohost_uploads } from './Migration20260305090000_videohost_uploads.ts';
import { Migration20260401100000_hidden_conversations } from './Migration20260401100000_hidden_conversations.ts';
import { Migration20260403100000_tickets } from './Migration20260403100000_tickets.ts';
import { Migration20260404090000_cancelled_jobs } from './Migration20260404090000_cancelled_jobs.ts';
import { Migration20260405090000_audit_log } from './Migration20260405090000_audit_log.ts';
import { Migration20260501090000_recording_start } from './Migration20260501090000_recording_start.ts';
import { Migration20260501110000_job_attempts } from './Migration20260501110000_job_attempts.ts';
import { Migration20260601090000_kept_answers } from './Migration20260601090000_kept_answers.ts';
import { Migration20260601100000_feed } from './Migration20260601100000_feed.ts';
import { Migration20260602090000_captions } from './Migration20260602090000_captions.ts';
import { Migration20260720090000_handed_over_jobs } from './Migration20260720090000_handed_over_jobs.ts';
import { Migration20260901090000_failed_jobs } from './Migration20260901090000_failed_jobs.ts';

/** In the order of their names. */
export const migrations: readonly MigrationClass[] = [
  Migration20260105090000_media,
  Migration20260301090000_recording_imports,
  Migration20260305090000_videohost_uploads,
  Migration20260401100000_hidden_conversations,
  Migration20260403100000_tickets,
  Migration20260404090000_cancelled_jobs,
  Migration20260405090000_audit_log,
  Migration20260501090000_recording_start,
  Migration20260501110000_job_attempts,
  Migration20260601090000_kept_answers,
  Migration20260601100000_feed,
  Migration20260602090000_captions,
  Migration20260720090000_handed_over_jobs,
  Migration20260901090000_failed_jobs,
];
