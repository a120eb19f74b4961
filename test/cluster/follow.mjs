/**
 * Runs before a PostgreSQL server without data starts. Copies the data of the other server over SQL and configures this
 * server as its standby. If this is the first server and it is alone in the cluster, initdb creates the data instead.
 * Run with `node --input-type=module --eval` in the platform folder, so that the database driver is found.
 */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const { PGDATA, PEER, PEERS, IS_FIRST, POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = process.env;
const login = { host: PEER, port: 5432, user: POSTGRES_USER, password: POSTGRES_PASSWORD };
/**
 * Folders and files that belong to the running server only. These folders are created empty, and these files are not
 * copied.
 */
const emptied = [
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
];
const ownFiles = ['postmaster.pid', 'postmaster.opts', 'standby.signal'];
const listFiles = `
  with recursive tree(path, is_folder) as (
    select name, (pg_stat_file(name, true)).isdir from pg_ls_dir('.') as name
    union all
    select path || '/' || name, (pg_stat_file(path || '/' || name, true)).isdir
    from tree, pg_ls_dir(case when is_folder and path <> all ($1) then path end, true, false) as name
  ) select path, is_folder from tree where path <> all ($2) and is_folder is not null order by path`;

/**
 * Returns whether the shared name resolves to this pod only. Names that may be missing are not queried, because
 * resolvers report missing names differently.
 */
async function isAlone() {
  const own = new Set(Object.values(networkInterfaces()).flatMap((list) => list.map(({ address }) => address)));
  const addresses = await lookup(PEERS, { all: true }).catch(() => []);
  return addresses.length > 0 && addresses.every(({ address }) => own.has(address));
}

/**
 * Takes a base backup with the low-level API. Files may change or vanish during the copy; the WAL restores consistency.
 */
async function copy(client, to) {
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true, mode: 0o700 });
  await client.query("select pg_backup_start('standby', true)");
  const { rows } = await client.query(listFiles, [emptied, ownFiles]);
  for (const { path, is_folder: isFolder } of rows) {
    if (isFolder) await mkdir(join(to, path), { mode: 0o700 });
    else {
      const read = await client.query('select pg_read_binary_file($1, true) as bytes', [path]);
      if (read.rows[0].bytes !== null) await writeFile(join(to, path), read.rows[0].bytes, { mode: 0o600 });
    }
  }
  const stopped = await client.query('select labelfile from pg_backup_stop(false)');
  await writeFile(join(to, 'backup_label'), stopped.rows[0].labelfile);
}

async function follow() {
  const client = new pg.Client({ ...login, database: POSTGRES_DB, connectionTimeoutMillis: 3_000 });
  client.on('error', () => {}); // Pending statements are rejected by the client itself.
  await client.connect();
  try {
    const { rows } = await client.query('select pg_is_in_recovery() as follows');
    if (rows[0].follows) throw new Error('it takes no writes yet');
    const draft = `${PGDATA}.new`;
    await copy(client, draft);
    const address = Object.entries({ ...login, application_name: 'standby' }).map(
      ([name, value]) => `${name}=${value}`,
    );
    await writeFile(join(draft, 'postgresql.auto.conf'), `primary_conninfo = '${address.join(' ')}'\n`);
    await writeFile(join(draft, 'standby.signal'), '');
    await rename(draft, PGDATA);
  } finally {
    await client.end();
  }
}

while (!existsSync(join(PGDATA, 'PG_VERSION'))) {
  if (IS_FIRST === 'true' && (await isAlone())) break;
  await follow().catch(async (error) => {
    console.log(`${PEER}: ${error.message}`);
    await sleep(1_000);
  });
}
