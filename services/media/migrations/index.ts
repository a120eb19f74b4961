import type { MigrationClass } from '#libs/orm';
import { Migration20260105090000_media } from './Migration20260105090000_media.ts';
import { Migration20260301090000_recording_imports } from './Migration20260301090000_recording_imports.ts';
import { Migration20260305090000_videohost_uploads } from './Migration20260305090000_videohost_uploads.ts';
import { Migration20260401100000_hidden_conversations } from './Migration20260401100000_hidden_conversations.ts';
import { Migration20260403100000_tickets } from './Migration20260403100000_tickets.ts';
import { Migration20260404090000_cancelled_jobs } from './Migration20260404090000_cancelled_jobs.ts';

/** In the order of their names. */
export const migrations: readonly MigrationClass[] = [
  Migration20260105090000_media,
  Migration20260301090000_recording_imports,
  Migration20260305090000_videohost_uploads,
  Migration20260401100000_hidden_conversations,
  Migration20260403100000_tickets,
  Migration20260404090000_cancelled_jobs,
];
