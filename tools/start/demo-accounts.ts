/** Finds the passwords of the demo workspace's accounts, and replaces published passwords (rules/access#passwords). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isPublicSecret, listPublicSecrets } from '#libs/infrastructure/config';
import { createLogger } from '#libs/infrastructure/logger';
import { createDatabase } from '#libs/infrastructure/orm';
import { directory } from '#services/directory';
import { createContext } from '../../cli/context.ts';
import { createPasswords } from '../../services/directory/accounts/rules.ts';
import { demoWorkspaceFile } from './demo-workspace.ts';

type Settings = Readonly<Record<string, string>>;

export interface DemoAccount {
  readonly email: string;
  /** The password; undefined when a user has changed it. */
  readonly password: string | undefined;
}

/** Returns the emails of the accounts that can log in. Their initial password is DEMO_PASSWORD. */
function readEmails(repoDir: string): string[] {
  return readAccounts(repoDir).map(({ email }) => email);
}

function readAccounts(repoDir: string): { email: string; superuser?: boolean }[] {
  const document = parse(readFileSync(join(repoDir, demoWorkspaceFile), 'utf8')) as {
    accounts?: { email: string; password?: unknown; superuser?: boolean }[];
  };
  return (document.accounts ?? []).filter(({ password }) => password !== undefined);
}

/**
 * Returns the existing demo accounts that can log in, in the order of the workspace file.
 * @param passwords passwords that are tried in addition to the published ones
 */
export async function findDemoAccounts(
  repoDir: string,
  settings: Settings,
  passwords: readonly (string | undefined)[],
): Promise<DemoAccount[]> {
  const emails = readEmails(repoDir);
  const hashes = await readHashes(settings, emails);
  const candidates = new Set([...passwords.filter((one) => one !== undefined), ...listPublicSecrets()]);
  const { verify } = createPasswords();
  const found = await Promise.all(
    emails.map(async (email): Promise<DemoAccount[]> => {
      const hash = hashes.get(email);
      if (hash === undefined) return [];
      for (const password of candidates) if (await verify(password, hash)) return [{ email, password }];
      return [{ email, password: undefined }];
    }),
  );
  return found.flat();
}

async function readHashes(settings: Settings, emails: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const logger = createLogger({ service: 'start', level: 'error' });
  const database = await createDatabase({
    url: settings['DATABASE_URL'] ?? '',
    schema: 'directory',
    poolSize: 1,
    logger,
    applicationName: 'start',
  });
  try {
    const rows = await database.query<{ email: string; hash: string }>(
      {
        name: 'demo_accounts',
        text: 'select lower(email) as email, password_hash as hash from directory.accounts where lower(email) = any($1) and password_hash is not null and is_active',
      },
      [emails],
    );
    return new Map(rows.map(({ email, hash }) => [email, hash]));
  } finally {
    await database.close();
  }
}

export interface Replacement {
  /** All demo accounts, with their passwords after the change. */
  readonly accounts: readonly DemoAccount[];
  /** Replaces published passwords with DEMO_PASSWORD, and ends sessions and service keys of these accounts. */
  run(this: void): Promise<void>;
  describe(secretsFile: string): string;
}

/** Returns undefined when no account has a published password. */
export function createReplacement(accounts: readonly DemoAccount[], settings: Settings): Replacement | undefined {
  const isPublished = ({ password }: DemoAccount): boolean => password !== undefined && isPublicSecret(password);
  const emails = accounts.filter(isPublished).map(({ email }) => email);
  if (emails.length === 0) return undefined;
  const { DEMO_PASSWORD: password = '' } = settings;
  return {
    accounts: accounts.map((account) => (isPublished(account) ? { ...account, password } : account)),
    run: () => replacePasswords(emails, password, settings),
    describe: (secretsFile) =>
      `${emails.join(', ')}: their published password was replaced by DEMO_PASSWORD (${secretsFile} or your own); their sessions and service keys were revoked.`,
  };
}

async function replacePasswords(emails: readonly string[], password: string, settings: Settings): Promise<void> {
  const context = createContext({
    json: true,
    variables: { ...settings, NATS_URL: settings['NATS_URL_CLI'] ?? settings['NATS_URL'] ?? '' },
  });
  try {
    for (const email of emails) await context.call(directory.rpcs.setPassword, { email, password, revoke_keys: true });
  } finally {
    await context.close();
  }
}

/** Returns the settings for `npm run demo`, with the password that its login needs. */
export function withDemoPassword(settings: Settings, accounts: readonly DemoAccount[]): Settings {
  const password = accounts.find((account) => account.password !== undefined)?.password;
  return password === undefined ? settings : { ...settings, DEMO_PASSWORD: password };
}

/** Returns the accounts of a demo workspace that was just applied. */
export function listNewDemoAccounts(repoDir: string, { DEMO_PASSWORD: password }: Settings): DemoAccount[] {
  return readEmails(repoDir).map((email) => ({ email, password }));
}

/**
 * Returns the profile with which the CLI calls the HTTP APIs of the running platform; undefined when no demo superuser
 * has a known password.
 */
export function findLocalProfile(repoDir: string, url: string, accounts: readonly DemoAccount[]) {
  const superusers = new Set(
    readAccounts(repoDir).flatMap(({ email, superuser }) => (superuser === true ? email : [])),
  );
  const found = accounts.find(({ email, password }) => password !== undefined && superusers.has(email));
  return found === undefined ? undefined : { url, ...found };
}
