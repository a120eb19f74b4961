/**
 * Selects the account that runs PostgreSQL. PostgreSQL rejects root, initdb rejects an account without a name, and this
 * folder may be inaccessible to other accounts (`/root/...`). The first option that works is used: the caller; the
 * caller inside a user namespace that displays it as an ordinary account; another account, with programs and data moved
 * to a folder that this account can access.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pickBasics } from './process-environment.ts';

export interface PostgresAccount {
  /** Arguments that are prepended to every command of PostgreSQL. */
  prefix: string[];
  binDir: string;
  dataDir: string;
}

interface Account {
  name: string;
  uid: number;
  gid: number;
}

/**
 * Selects the account and prepares its folder: afterwards, the parent folder of `dataDir` exists and the account can
 * use it.
 * @throws Error when no option works on this machine
 */
export function preparePostgresAccount(nativeDir: string, dataDir: string): PostgresAccount {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  const accounts = readAccounts();
  const binDir = join(nativeDir, 'bin');
  mkdirSync(dirname(dataDir), { recursive: true });
  if (uid === undefined || gid === undefined || (uid !== 0 && accounts.some((account) => account.uid === uid))) {
    return { prefix: [], binDir, dataDir };
  }
  const others = accounts.filter((account) => account.uid !== 0);
  const other =
    others.find((account) => account.name === 'postgres') ??
    others.find((account) => account.name === 'nobody') ??
    others[0];
  if (other === undefined) throw new Error('PostgreSQL needs an account that is not root, and /etc/passwd has none.');

  const namespace = ['unshare', '--user', `--map-user=${other.uid}`, `--map-group=${other.gid}`, '--'];
  if (runs([...namespace, join(binDir, 'postgres'), '--version'])) {
    changeOwner(dataDir, uid, gid);
    return { prefix: namespace, binDir, dataDir };
  }
  if (uid !== 0) throw new Error(`PostgreSQL needs an account with a name; uid ${uid} has none in /etc/passwd.`);

  const asOther = ['setpriv', `--reuid=${other.uid}`, `--regid=${other.gid}`, '--clear-groups', '--'];
  if (runs([...asOther, join(binDir, 'postgres'), '--version']) && runs([...asOther, 'test', '-x', dirname(dataDir)])) {
    prepareDataDir(dataDir, other);
    return { prefix: asOther, binDir, dataDir };
  }
  return moveWithinReach(nativeDir, dataDir, asOther, other);
}

/**
 * Moves programs and data to a folder that the other account can access. The name of the data folder is derived from
 * its original path.
 */
function moveWithinReach(nativeDir: string, dataDir: string, prefix: string[], account: Account): PostgresAccount {
  const root = join(existsSync('/var/lib') ? '/var/lib' : tmpdir(), 'coherence-postgres');
  const programs = join(root, `native-${hash(nativeDir + statSync(join(nativeDir, 'bin', 'postgres')).size)}`);
  const umask = process.umask(0o022); // the launcher's umask makes files private
  mkdirSync(root, { recursive: true });
  if (!existsSync(programs)) {
    const draft = `${programs}.${process.pid}`;
    cpSync(nativeDir, draft, { recursive: true, verbatimSymlinks: true });
    renameSync(draft, programs);
  }
  process.umask(umask);
  const reachable = { prefix, binDir: join(programs, 'bin'), dataDir: join(root, `data-${hash(dataDir)}`) };
  if (!runs([...prefix, join(reachable.binDir, 'postgres'), '--version'])) {
    rmSync(programs, { recursive: true, force: true });
    throw new Error(
      `PostgreSQL refuses to run as root, and the account ${account.name} cannot run it from ${programs}.`,
    );
  }
  // The data was created here while other accounts could access this folder.
  if (existsSync(join(dataDir, 'PG_VERSION')) && !existsSync(reachable.dataDir)) moveDir(dataDir, reachable.dataDir);
  prepareDataDir(reachable.dataDir, account);
  return reachable;
}

/** Moves a folder atomically, also between file systems. */
function moveDir(from: string, to: string): void {
  const draft = `${to}.${process.pid}`;
  cpSync(from, draft, { recursive: true, verbatimSymlinks: true });
  renameSync(draft, to);
  rmSync(from, { recursive: true });
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function prepareDataDir(dataDir: string, account: Account): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  changeOwner(dataDir, account.uid, account.gid);
}

function changeOwner(path: string, uid: number, gid: number): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || (stat.uid === uid && stat.gid === gid)) return;
  if (stat.isDirectory()) for (const name of readdirSync(path)) changeOwner(join(path, name), uid, gid);
  chownSync(path, uid, gid);
}

function runs(command: readonly string[]): boolean {
  const [program = '', ...args] = command;
  return spawnSync(program, args, { stdio: 'ignore', env: pickBasics() }).status === 0;
}

function readAccounts(): Account[] {
  if (!existsSync('/etc/passwd')) return [];
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [name = '', , uid, gid] = line.split(':');
    return uid === undefined || gid === undefined ? [] : [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}
