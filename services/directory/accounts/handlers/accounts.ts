/** Accounts of the admin CLI: list, create, set password, deactivate, grant, delete (rules/cli#admin-cli). */
import { isDeepStrictEqual } from 'node:util';
import type { Static } from '#libs/contract';
import { appError } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import { rawJson, type Handlers } from '#libs/nats';
import { constraintOf, type Database, type Tx } from '#libs/orm';
import { accountGroups, type accountRpcs, directory } from '../../contract.ts';
import { isEmail } from '../../email.ts';
import { accountEmailUnique, accountPersonForeign, type Account } from '../../entities/account.entity.ts';
import { emailThrottleKey } from '../login-throttle.ts';
import { findPasswordProblem } from '../rules/password-strength.ts';
import type { Passwords } from '../rules/password.ts';
import {
  deleteAccount,
  findAccountForUpdate,
  findPersonByKey,
  insertAccount,
  linkPerson,
  listAccounts,
  saveAccount,
} from '../statements/accounts.ts';
import { findAccountSessions, forgetAttempts, revokeAccountSessions } from '../statements/sessions.ts';

export interface AccountOptions {
  readonly db: Database;
  readonly jobs: Jobs;
  readonly passwords: Passwords;
}

type AccountHandlers = Pick<Handlers<typeof directory>, keyof typeof accountRpcs>;
type AccountReply = Static<typeof directory.rpcs.createAccount.reply>;
type ChangedReply = Static<typeof directory.rpcs.grantAccount.reply>;

export function createAccountHandlers({ db, jobs, passwords }: AccountOptions): AccountHandlers {
  async function tellSessions(tx: Tx, accountId: number, sessions: 'revoke' | 'refresh'): Promise<void> {
    const rows = await (sessions === 'revoke' ? revokeAccountSessions : findAccountSessions)(tx, { accountIds: [accountId] });
    const keys = rows.map((row) => row.session_key);
    if (keys.length > 0) await jobs.emit(tx, directory.events.sessionsRevoked, { session_keys: keys });
  }

  /** Changes one account under its lock, then tells the gateways which tokens are gone or mean something else now. */
  async function change(
    email: string,
    sessions: 'revoke' | 'refresh',
    work: (account: Account, tx: Tx) => void | Promise<void>,
  ): Promise<ChangedReply> {
    return jobs.transaction(async (tx) => {
      const account = await requireAccount(tx, email);
      const before = { ...describe(account), passwordHash: account.passwordHash };
      await work(account, tx);
      await saveAccount(tx, account); // before the sessions: a login that waits for the lock must find the change
      await tellSessions(tx, account.id, sessions);
      const after = describe(account);
      return { ...after, changed: !isDeepStrictEqual(before, { ...after, passwordHash: account.passwordHash }) };
    });
  }

  async function hashNew(password: string, email: string): Promise<string> {
    const problem = await findPasswordProblem(password, email.trim());
    if (problem !== undefined) throw appError('bad_request', 'weak_password', `The password ${problem}.`);
    return passwords.hash(password);
  }

  async function findPerson(person: number | string | undefined): Promise<number | undefined> {
    if (person === undefined || typeof person === 'number') return person;
    const row = await findPersonByKey(db, { key: person });
    if (row === undefined) throw personNotFound(person);
    return row.id;
  }

  return {
    listAccounts: async ({ after, limit, is_active: isActive, superuser, group }) => {
      requireGroups(group === undefined ? [] : [group]);
      const rows = await listAccounts(db, { after, isActive, superuser, group, limit: limit + 1 });
      const page = rows.slice(0, limit);
      const next = rows.length > limit ? (page.at(-1)?.email ?? null) : null;
      return rawJson(`{"items":[${page.map(({ item }) => item).join(',')}],"next":${JSON.stringify(next)}}`);
    },
    createAccount: async (request) => {
      if (!isEmail(request.email)) throw appError('bad_request', 'invalid_email', `"${request.email}" is not an email address.`);
      requireGroups(request.groups ?? []);
      const personId = await findPerson(request.person);
      const passwordHash = request.password === undefined ? null : await hashNew(request.password, request.email);
      return translate(request.email, personId, () =>
        jobs.transaction(async (tx) => {
          const account = await insertAccount(tx, {
            email: request.email.trim(),
            personId,
            passwordHash,
            superuser: request.superuser ?? false,
            globalEditor: request.global_editor ?? false,
            groups: request.groups ?? [],
          });
          return describe(account);
        }),
      );
    },
    setPassword: async ({ email, password }) => {
      const hash = await hashNew(password, email);
      return change(email, 'revoke', async (account, tx) => {
        account.passwordHash = hash;
        await forgetAttempts(tx, { emailKeys: [emailThrottleKey(email)] });
      });
    },
    deactivateAccount: ({ email }) =>
      change(email, 'revoke', (account) => {
        account.isActive = false;
      }),
    grantAccount: async (request) => {
      requireGroups(request.add_groups ?? []);
      const personId = await findPerson(request.person);
      const removed = new Set(request.remove_groups ?? []);
      return translate(request.email, personId, () =>
        change(request.email, 'refresh', (account) => {
          // What an account has can always be taken away, a group that there is no more too.
          requireGroups([...removed].filter((name) => !account.groups.includes(name)));
          account.superuser = request.superuser ?? account.superuser;
          account.globalEditor = request.global_editor ?? account.globalEditor;
          account.isActive = request.activate ?? account.isActive;
          const groups = new Set([...account.groups, ...(request.add_groups ?? [])]);
          account.groups = [...groups].filter((name) => !removed.has(name)).toSorted();
          if (personId !== undefined) linkPerson(account, personId);
        }),
      );
    },
    deleteAccount: ({ email }) =>
      jobs.transaction(async (tx) => {
        const account = await requireAccount(tx, email);
        await tellSessions(tx, account.id, 'revoke');
        await forgetAttempts(tx, { emailKeys: [emailThrottleKey(email)] });
        await deleteAccount(tx, account);
        return describe(account);
      }),
  };
}

async function requireAccount(tx: Tx, email: string): Promise<Account> {
  const account = await findAccountForUpdate(tx, email);
  if (account === null) throw appError('not_found', 'account_not_found', `There is no account with the email ${email.trim()}.`);
  return account;
}

/** @throws AppError `unknown_group` */
function requireGroups(names: readonly string[]): void {
  const unknown = names.find((name) => !(accountGroups as readonly string[]).includes(name));
  if (unknown === undefined) return;
  throw appError('bad_request', 'unknown_group', `There is no group "${unknown}"; there is ${accountGroups.join(', ')}.`);
}

function describe(account: Account): AccountReply {
  return {
    id: account.id,
    email: account.email,
    person_id: account.person?.id ?? null,
    is_active: account.isActive,
    superuser: account.superuser,
    global_editor: account.globalEditor,
    groups: account.groups,
  };
}

/** Broken constraints as what they mean to the caller. */
async function translate<T>(email: string, personId: number | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const constraint = constraintOf(error);
    if (constraint === accountEmailUnique) {
      throw appError('conflict', 'account_exists', `There is an account with the email ${email.trim()} already.`);
    }
    throw constraint === accountPersonForeign && personId !== undefined ? personNotFound(personId) : error;
  }
}

function personNotFound(person: number | string): Error {
  return appError('not_found', 'person_not_found', `There is no person ${String(person)}.`);
}
