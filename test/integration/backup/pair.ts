/** Two installations and a backup folder: one is backed up, the other is the restore target. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInstallation, fill, type Installation } from './installation.ts';

export interface BackupPair {
  /** The installation with rows and objects, which is backed up. */
  readonly one: Installation;
  /** The restore target; each restore test empties it. */
  readonly other: Installation;
  /** Setting with the public key for backup encryption. */
  readonly keys: { readonly BACKUP_RECIPIENTS: string };
  /** Path of the secret key file. */
  readonly identity: string;
  /** Creates an empty backup folder and returns its path. */
  newPlace(): string;
  stop(): Promise<void>;
}

export async function createPair(url: string): Promise<BackupPair> {
  const [one, other] = await Promise.all([createInstallation(url), createInstallation(url)]);
  const folder = mkdtempSync(join(tmpdir(), 'coherence-backup-'));
  await fill(one);
  const identity = join(folder, 'key.txt');
  const { recipient } = (await one.run({}, 'backup', 'keygen', '--out', identity)) as { recipient: string };
  return {
    one,
    other,
    keys: { BACKUP_RECIPIENTS: recipient },
    identity,
    newPlace: () => mkdtempSync(join(folder, 'place-')),
    stop: async () => {
      await one.env.stop();
      await other.env.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const filesOf = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(root, name)).isFile())
    .toSorted();

/** Returns the digest of every object by key. */
export const objectsOf = async ({ store }: Installation): Promise<Record<string, string>> => {
  const found: Record<string, string> = {};
  for await (const { key } of store.list('')) {
    if (key.startsWith('platform/')) continue;
    const hash = createHash('sha256');
    for await (const chunk of (await store.get(key))?.body ?? []) hash.update(chunk as Buffer);
    found[key] = hash.digest('hex');
  }
  return found;
};

/**
 * Removes tables that differ after a restore on purpose: jobs are published again, migrations ran later, and feed
 * positions and ids continue.
 */
export const withoutJobs = (digests: Record<string, string>) =>
  Object.fromEntries(Object.entries(digests).filter(([name]) => !/\.(jobs|migrations|feed_head)$/.test(name)));

export const schemaOf = ({ env }: Installation): Promise<unknown[]> =>
  env.sql(`select conrelid::regclass::text as of, conname as name, pg_get_constraintdef(oid) as text from pg_constraint where connamespace::regnamespace::text not like 'pg%'
    union all select tablename, indexname, indexdef from pg_indexes where schemaname not like 'pg%'
    union all select tgrelid::regclass::text, tgname, tgenabled::text from pg_trigger where not tgisinternal
    union all select table_schema || '.' || table_name, grantee, privilege_type from information_schema.role_table_grants where grantee like 'coherence%' order by 1, 2, 3`);

/** Returns the tables that have restored rows. */
export const listRestored = async ({ digests }: Installation): Promise<string[]> =>
  Object.keys(await digests()).filter((name) => !/audit_head|feed_head|migrations/.test(name));
