/** `backup create|list|verify|restore|prune|keygen` (rules/operations#backups; docs/guides/backup.md). */
import { closeSync, openSync, writeSync } from 'node:fs';
import { InvalidArgumentError, type Command } from 'commander';
import {
  BackupError,
  type BackupTarget,
  createBackup,
  createSeal,
  generateKeys,
  isComplete,
  listIds,
  type Manifest,
  openBackup,
  pruneBackups,
  verifyBackup,
} from '#libs/product/backup';
import { listMigrations, releaseVersion } from '#libs/infrastructure/release';
import { withConfirmation, withFormerName } from '../common-options.ts';
import { confirm } from '../confirm.ts';
import type { CliContext } from '../context.ts';
import { CliError, describeFailure } from '../failure.ts';
import { moment, toned } from '../output/cell.ts';
import { fields, table } from '../output/table.ts';
import { createProgress, sizeOf } from './progress.ts';
import { openStore, openTarget, readDatabaseUrl, readRecipients } from './settings.ts';

interface LocationOptions {
  location?: string;
}
interface CreateOptions extends LocationOptions {
  objects?: true;
  fresh?: true;
  connections: number;
}
interface VerifyOptions extends LocationOptions {
  digest?: string;
  objects: boolean;
}
export interface RestoreOptions extends LocationOptions {
  digest?: string;
  identityFile?: string;
  allowPlain?: true;
  yes?: true;
}
interface PruneOptions extends LocationOptions {
  keepDays: number;
  dryRun?: true;
  yes?: true;
}

export function register(group: Command, context: CliContext): void {
  registerMaking(group, context);
  registerReading(group, context);
}

/** Adds `--location`. @param former its name in earlier releases */
function withLocation(command: Command, former: '--out <place>' | '--from <place>'): Command {
  command.option('--location <place>', 'a folder or s3://bucket/prefix (default: BACKUP_URL)');
  return withFormerName(command, former, '--location');
}

function registerMaking(group: Command, context: CliContext): void {
  withLocation(group.command('create'), '--out <place>')
    .description('Creates a backup of a consistent snapshot; resumes a backup that was interrupted after its database')
    .option('--objects', 'include the contents of all files; contents of earlier backups are not copied again')
    .option('--fresh', 'do not resume an interrupted backup')
    .option(
      '--connections <count>',
      'number of tables read in parallel, 1 to 16; one more connection holds the snapshot',
      parseConnections,
      4,
    )
    .option('--json', 'print {id, digest, …}')
    .action((options: CreateOptions) => withBackupErrors(() => create(context, options)));

  withConfirmation(withLocation(group.command('prune'), '--from <place>'))
    .description(
      'Removes backups older than some days and file contents without a backup; keeps the newest complete backup',
    )
    .requiredOption('--keep-days <days>', 'keep newer backups', parseDays)
    .option('--dry-run', 'show what would be removed')
    .action((options: PruneOptions) =>
      withBackupErrors(() =>
        withTarget(context, options, async (target) => {
          const dryRun = options.dryRun === true;
          const question = `This removes all backups older than ${options.keepDays} days except the newest complete one.`;
          if (!dryRun && options.yes !== true) await confirm(question, 'prune', 'use --yes, or --dry-run first');
          const pruned = await pruneBackups(target, options.keepDays, new Date(), dryRun);
          const done = dryRun ? 'would be removed (nothing changed)' : 'removed';
          context.print(
            { ...pruned, dry_run: dryRun },
            `${pruned.backups.length} backups and ${pruned.objects} objects ${done}.`,
          );
        }),
      ),
    );

  group
    .command('keygen')
    .description(
      'Generates a key pair: writes the secret key to a file and prints the public key for BACKUP_RECIPIENTS',
    )
    .requiredOption('--out <file>', 'file for the secret key; must not exist')
    .action(async ({ out }: { out: string }) => {
      const { secret, recipient } = await generateKeys();
      const file = openSync(out, 'wx', 0o600);
      writeSync(file, `# public key: ${recipient}\n${secret}\n`);
      closeSync(file);
      context.print(
        { recipient, file: out },
        `BACKUP_RECIPIENTS=${recipient}`,
        `The secret key is in ${out}. Store it away from the platform: without it, encrypted backups cannot be read.`,
      );
    });
}

function registerReading(group: Command, context: CliContext): void {
  withLocation(group.command('list'), '--from <place>')
    .description('Lists backups, newest first')
    .action((options: LocationOptions) =>
      withBackupErrors(() =>
        withTarget(context, options, async (target) => {
          const items: Listed[] = [];
          for (const id of await listIds(target)) items.push(await describe(target, id));
          context.print(items, table(items, columns, `No backups in ${target.location}.`));
        }),
      ),
    );

  withLocation(group.command('verify'), '--from <place>')
    .description('Reads a complete backup and compares it with its manifest; needs no secret key')
    .argument('[id]', 'backup id (default: the newest complete backup)')
    .option('--digest <sha256>', 'require this digest, as printed by `backup create`', parseDigest)
    .option('--no-objects', 'do not verify the contents of files')
    .action((id: string | undefined, options: VerifyOptions) =>
      withBackupErrors(() => withTarget(context, options, (target) => verify(context, target, id, options))),
    );

  withConfirmation(withLocation(group.command('restore'), '--from <place>'))
    .description(
      'Restores a backup into an empty installation of the same or a newer release, while no service is running',
    )
    .argument('[id]', 'backup id (default: the newest complete backup)')
    .option('--digest <sha256>', 'require this digest, as printed by `backup create`', parseDigest)
    .option('--identity-file <file>', 'secret keys of an encrypted backup (default: BACKUP_IDENTITY)')
    .option('--allow-plain', 'accept an unencrypted backup although a secret key is set')
    .action((id: string | undefined, options: RestoreOptions) =>
      withBackupErrors(() =>
        withTarget(context, options, async (target) => {
          const { manifest } = await openBackup(target, id, options.digest);
          const when = `the backup ${manifest.id}, of ${manifest.taken_at}`;
          if (options.yes !== true)
            await confirm(`This restores ${when} into the database of DATABASE_URL.`, manifest.id);
          const { restore } = await import('./restore.ts'); // slow to load, and only needed here
          await restore(context, target, manifest, options);
        }),
      ),
    );
}

async function create(context: CliContext, options: CreateOptions): Promise<void> {
  const target = openTarget(context, options.location);
  const store = openStore(context);
  try {
    const seal = createSeal(readRecipients(context));
    const { manifest, digest, resumed } = await createBackup({
      url: readDatabaseUrl(context),
      schemas: Object.keys(listMigrations()),
      target,
      seal,
      version: releaseVersion,
      store,
      withObjects: options.objects === true,
      fresh: options.fresh === true,
      connections: options.connections,
      onFewer: (count, reason) =>
        void process.stderr.write(
          `Reading ${count} of ${options.connections} tables at once: ${describeFailure(reason).split('\n')[0]}\n`,
        ),
      onProgress: createProgress(),
    });
    const sizes = sizesOf(manifest);
    context.print(
      {
        id: manifest.id,
        digest,
        resumed,
        taken_at: manifest.taken_at,
        encrypted: seal.recipients.length > 0,
        ...sizes,
      },
      fields({
        id: manifest.id,
        place: target.location,
        digest,
        of: moment(manifest.taken_at),
        database: `${sizes.rows} rows in ${sizes.tables} tables, ${sizeOf(sizes.database_bytes)}`,
        objects: sizes.objects === null ? 'not included; use --objects' : String(sizes.objects),
        encrypted: seal.recipients.length > 0 ? 'yes' : 'no: BACKUP_RECIPIENTS is not set',
        resumed: resumed ? 'yes' : null,
      }),
    );
  } finally {
    target.close();
    store?.close();
  }
}

async function verify(
  context: CliContext,
  target: BackupTarget,
  id: string | undefined,
  options: VerifyOptions,
): Promise<void> {
  const { manifest, digest } = await openBackup(target, id, options.digest);
  const result = await verifyBackup({ target, manifest, withObjects: options.objects, onProgress: createProgress() });
  const ok = result.problems.length === 0;
  const count = `${result.files} files, ${sizeOf(result.bytes)}`;
  context.print(
    { id: manifest.id, digest, ok, ...result },
    ...(ok ? [`${manifest.id} is intact: ${count}.`] : result.problems),
  );
  if (!ok) throw new CliError(`${manifest.id} cannot be trusted: ${result.problems.length} problems.`);
}

type Listed = Awaited<ReturnType<typeof describe>>;

async function describe(target: BackupTarget, id: string) {
  const nothing = {
    id,
    version: null,
    taken_at: null,
    encrypted: null,
    tables: null,
    rows: null,
    database_bytes: null,
    objects: null,
  };
  if (!(await isComplete(target, id))) return { ...nothing, state: 'broken off' as const };
  try {
    const { manifest } = await openBackup(target, id);
    const { version, taken_at: takenAt, encrypted_to: keys } = manifest;
    return {
      id,
      version,
      taken_at: takenAt,
      encrypted: keys.length > 0,
      ...sizesOf(manifest),
      state: 'complete' as const,
    };
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    return { ...nothing, state: 'damaged' as const };
  }
}

function sizesOf(manifest: Manifest) {
  const tables = Object.values(manifest.schemas).flatMap((schema) => schema.tables);
  return {
    tables: tables.length,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    database_bytes: tables.reduce((sum, { stored_bytes: bytes }) => sum + bytes, 0),
    objects: manifest.objects === null ? null : manifest.objects.reduce((sum, { count }) => sum + count, 0),
  };
}

const columns = {
  ID: ({ id }: Listed) => id,
  STATE: ({ state }: Listed) => toned(state, state === 'complete' ? 'good' : 'bad'),
  OF: ({ taken_at: at }: Listed) => (at === null ? null : moment(at)),
  VERSION: ({ version }: Listed) => version,
  ENCRYPTED: ({ encrypted }: Listed) => (encrypted === null ? null : encrypted ? 'yes' : 'no'),
  ROWS: ({ rows }: Listed) => rows,
  BYTES: ({ database_bytes: bytes }: Listed) => bytes,
  OBJECTS: ({ objects }: Listed) => objects,
};

async function withTarget(
  context: CliContext,
  { location }: LocationOptions,
  work: (target: BackupTarget) => Promise<void>,
): Promise<void> {
  const target = openTarget(context, location);
  try {
    await work(target);
  } finally {
    target.close();
  }
}

/** Prints backup errors without a stack. */
async function withBackupErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw error instanceof BackupError
      ? new CliError(`${error.message[0]?.toUpperCase()}${error.message.slice(1)}.`)
      : error;
  }
}

function parseDays(text: string): number {
  const days = Number(text);
  if (text.trim() === '' || !(days > 0) || days > 36_500)
    throw new InvalidArgumentError('must be more than 0 and at most 36500 days.');
  return days;
}

function parseConnections(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 16) throw new InvalidArgumentError('must be between 1 and 16.');
  return count;
}

function parseDigest(text: string): string {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new InvalidArgumentError('must be 64 characters of 0-9 and a-f.');
  return text;
}
