/** Settings of `backup` and `doctor --after-restore` (docs/guides/backup.md). */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createFolderTarget, createStoreTarget, type BackupTarget, readStoreAddress } from '#libs/product/backup';
import { buildDatabaseUrl, loadConfig, s3Settings, secret } from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';
import { createObjectStore, type ObjectStore, storeConfigOf } from '#libs/infrastructure/object-store';
import type { CliContext } from '../context.ts';
import { CliError } from '../failure.ts';

/**
 * Backup settings of the admin CLI. The addresses of PostgreSQL, NATS and the object store are the settings of the
 * platform.
 */
export const backupSettings = Type.Object({
  BACKUP_URL: Type.Optional(
    Type.String({
      description: 'location of backups: a folder, or s3://bucket/prefix; overridden by `--location`',
    }),
  ),
  BACKUP_RECIPIENTS: Type.Optional(
    Type.String({
      description: 'public keys (age1…) of backups, separated by whitespace; unset = not encrypted',
    }),
  ),
  BACKUP_IDENTITY: Type.Optional(
    secret(
      Type.String({
        description: 'secret keys (AGE-SECRET-KEY-1…) for a restore, separated by whitespace; or `--identity-file`',
      }),
    ),
  ),
  BACKUP_S3_ENDPOINT: Type.Optional(
    Type.String({
      description: "object store of s3:// locations; unset = the platform's, with its settings",
    }),
  ),
  BACKUP_S3_REGION: Type.Optional(Type.String({ description: 'region of that object store' })),
  BACKUP_S3_ACCESS_KEY_ID: Type.Optional(
    Type.String({ description: 'access key of that object store; unset = the default credentials of the AWS SDK' }),
  ),
  BACKUP_S3_SECRET_ACCESS_KEY: Type.Optional(secret(Type.String({ description: 'secret key of that object store' }))),
  BACKUP_S3_SESSION_TOKEN: Type.Optional(
    secret(Type.String({ description: 'session token of temporary keys of that object store' })),
  ),
  BACKUP_S3_SESSION_TOKEN_FILE: Type.Optional(Type.String({ description: 'file with that session token' })),
  BACKUP_S3_SSE: Type.Optional(
    Type.String({ description: 'encryption at rest in that object store: AES256, aws:kms or aws:kms:dsse' }),
  ),
  BACKUP_S3_SSE_KMS_KEY_ID: Type.Optional(Type.String({ description: 'key of BACKUP_S3_SSE=aws:kms' })),
  BACKUP_S3_FORCE_PATH_STYLE: Type.Optional(
    Type.String({ description: 'bucket in the path instead of the host name: true or false' }),
  ),
});

const identityFileBytes = 64 * 1024;

/** Opens the backup location in `given`, or else in BACKUP_URL. @throws CliError when both are missing */
export function openTarget(context: CliContext, given: string | undefined): BackupTarget {
  const location = given ?? context.setting('BACKUP_URL') ?? '';
  if (location === '') throw new CliError(`Specify the location of the backups: --location or BACKUP_URL.`, 'usage');
  const address = readStoreAddress(location);
  if (address === undefined) {
    if (/^[a-z0-9+.-]+:\/\//i.test(location))
      throw new CliError(`"${location}" must be a folder or an s3:// URL.`, 'usage');
    return createFolderTarget(resolve(location));
  }
  const settings = context.settings();
  const ofPlatform = settings['BACKUP_S3_ENDPOINT'] === undefined;
  const variables = Object.keys(s3Settings).map((name) => [
    name,
    settings[`BACKUP_${name}`] ?? (ofPlatform ? settings[name] : undefined),
  ]);
  const config = loadConfig(Type.Object(s3Settings), { ...Object.fromEntries(variables), S3_BUCKET: address.bucket });
  return createStoreTarget(createObjectStore(storeConfigOf(config)), address.prefix, location);
}

/** Opens the object store of the platform; returns undefined when it is not configured. */
export function openStore(context: CliContext): ObjectStore | undefined {
  const settings = context.settings();
  if (settings['S3_ENDPOINT'] === undefined) return undefined;
  const names = Object.keys(s3Settings);
  return createObjectStore(
    storeConfigOf(loadConfig(Type.Object(s3Settings), Object.fromEntries(names.map((name) => [name, settings[name]])))),
  );
}

/** @throws CliError when DATABASE_URL is not set */
export function readDatabaseUrl(context: CliContext): string {
  const url = context.setting('DATABASE_URL') ?? '';
  if (url === '') throw new CliError('DATABASE_URL is not set. Use the URL of the migrations.');
  return buildDatabaseUrl(context.settings());
}

export const readRecipients = (context: CliContext): string[] => splitWords(context.setting('BACKUP_RECIPIENTS') ?? '');

/**
 * Reads secret keys from a file or from BACKUP_IDENTITY. Command-line arguments are not accepted, since other processes
 * can see them.
 */
export function readIdentities(context: CliContext, file: string | undefined): string[] {
  if (file === undefined) return splitWords(context.setting('BACKUP_IDENTITY') ?? '');
  const text = readFileSync(file, 'utf8');
  if (text.length > identityFileBytes) throw new CliError(`${file} is not a file of secret keys.`);
  return splitWords(text.replace(/^#.*$/gm, ''));
}

const splitWords = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');
