/** Restores a backup into an empty installation. */
import type { ObjectStore } from '#libs/infrastructure/object-store';
import { dropSchemas, findNonEmptyTables } from '#libs/infrastructure/orm';
import { replacedMigrations, withReplacements } from '#libs/infrastructure/release';
import { loadDatabase, type OnProgress } from './database.ts';
import { BackupError } from './errors.ts';
import { bringErasures } from './erasures.ts';
import type { Manifest } from './manifest.ts';
import { loadObjects } from './objects.ts';
import type { Unseal } from './seal.ts';
import type { BackupTarget } from './target.ts';

/** Tables that migrations fill; the rows of the backup replace these. */
const seededTables = ['audit_head', 'feed_head'];

export interface RestoreOptions {
  /** URL of a role that can create schemas. */
  readonly url: string;
  readonly target: BackupTarget;
  readonly manifest: Manifest;
  readonly unseal: Unseal;
  readonly store: ObjectStore | undefined;
  /** Names of all migrations that this release knows, by schema. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  /** Creates the schemas with only the given migrations; with all migrations if undefined. */
  readonly migrate: (only: Readonly<Record<string, readonly string[]>> | undefined) => Promise<void>;
  readonly onProgress: OnProgress;
}

export interface Restored {
  readonly objects: { readonly restored: number; readonly present: number } | null;
  readonly erasures: number;
}

/** Remaining steps when a restore failed after loading the rows; each step can be repeated. */
const restOfRestore = 'run tools/migrate.ts, then `doctor --after-restore`, while no service runs';

/**
 * Restores a backup. Database rows are loaded completely or not at all. After a failure before loading, a second run
 * skips existing objects. After a later failure the restore cannot be repeated; the error states the remaining steps.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { url, target, manifest, store, known, migrate } = options;
  checkRelease(manifest, known);
  if (manifest.objects !== null && manifest.objects.length > 0 && store === undefined) {
    throw new BackupError('the backup has objects: S3_ENDPOINT and its keys are needed');
  }
  const schemas = Object.keys(known);
  const filled = await findNonEmptyTables(url, schemas, seededTables);
  if (filled.length > 0) {
    throw new BackupError(
      `the database is not empty (${filled.slice(0, 3).join(', ')}${filled.length > 3 ? ', …' : ''}): a backup goes into an empty installation. Where a restore has brought these rows and failed behind them, ${restOfRestore}`,
    );
  }
  // Objects are restored first, so that the objects of all loaded rows exist.
  if (store !== undefined) await store.ensureBucket();
  const objects = store === undefined || manifest.objects === null ? null : await loadObjects({ ...options, store });
  const erasures = store === undefined ? 0 : await bringErasures(store, target);
  await dropSchemas(url, schemas);
  await migrate(
    Object.fromEntries(Object.entries(manifest.schemas).map(([schema, { migrations }]) => [schema, migrations])),
  );
  await loadDatabase(options);
  await afterRows(() => migrate(undefined));
  return { objects, erasures };
}

/**
 * Runs `work` after the rows were loaded. @throws BackupError that states the remaining steps, with the original error
 * as its cause
 */
export async function afterRows<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new BackupError(
      `the rows are restored, but not what comes after them (${problem}). Mend that, and do not restore again: ${restOfRestore}`,
      {
        cause: error,
      },
    );
  }
}

/** A release can restore its own backups and those of earlier releases. */
function checkRelease(manifest: Manifest, known: Readonly<Record<string, readonly string[]>>): void {
  for (const [schema, { migrations }] of Object.entries(manifest.schemas)) {
    const own = known[schema];
    if (own === undefined)
      throw new BackupError(`the backup has a schema "${schema}", which this release does not know`);
    const replaced = replacedMigrations(schema);
    const unknown = withReplacements(migrations, replaced).find((name) => !own.includes(name));
    if (unknown !== undefined && Object.values(replaced).flat().includes(unknown)) {
      throw new BackupError(
        `the backup was made between two releases, ${manifest.version}: restore it with that version, then upgrade`,
      );
    }
    if (unknown !== undefined) {
      throw new BackupError(
        `the backup was made by a newer release, ${manifest.version}: ${unknown} is not known here`,
      );
    }
  }
}
