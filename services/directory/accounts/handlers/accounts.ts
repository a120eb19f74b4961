/** Accounts: list, create, set password, deactivate, grant, delete (rules/cli#admin-cli), and their emails for readers of the audit log (A1). */
import { type AuditContext, changedFields, recordAudit } from '#libs/audit';
import { type Actor, mayReadOps, type RequestOf, type Static } from '#libs/contract';
import { appError } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import type { Jobs } from '#libs/jobs';
import { type HandlersOf, jsonPage } from '#libs/nats';
import { constraintOf, type Database, type Tx } from '#libs/orm';
import { isBlank } from '#libs/text';
import type { Account } from '../../entities/account.entity.ts';
import { peopleEvents } from '../../events/contract.ts';
import { tellWritten } from '../../events/index.ts';
import { isEmail } from '../../texts/index.ts';
import { changeTokens, type TokenChange } from '../change-tokens.ts';
import { accountGroups, type accountRpcs } from '../contract.ts';
import { emailThrottleKey } from '../login-limits.ts';
import { hashNewPassword, type Passwords } from '../rules.ts';
import {
  accountEmailUnique,
  accountPersonForeign,
  findPersonByKey,
  findReader,
  insertServicePerson,
  listAccounts,
  nameAccounts,
} from '../statements/accounts.ts';
import { forgetAttempts } from '../statements/sessions.ts';

export interface AccountOptions {
  readonly db: Database;
  readonly jobs: Jobs;
  readonly eventOutbox: EventOutbox;
  readonly passwords: Passwords;
}

type AccountHandlers = HandlersOf<typeof accountRpcs>;
type AccountReply = Static<typeof accountRpcs.createAccount.reply>;
type ChangedReply = Static<typeof accountRpcs.grantAccount.reply>;

/** Loaded when an account is written first: few processes do. */
const loadUnits = () => import('../statements/account-units.ts');

export function createAccountHandlers({ db, jobs, eventOutbox, passwords }: AccountOptions): AccountHandlers {
  /** Changes one account under its lock, then tells the gateways which tokens are gone or mean something else now. */
  async function change(
    context: AuditContext,
    email: string,
    tokens: TokenChange,
    work: (account: Account, tx: Tx) => void | Promise<void>,
  ): Promise<ChangedReply> {
    const { saveAccount } = await loadUnits();
    return jobs.transaction(async (tx) => {
      const account = await requireAccount(tx, email);
      const before = { ...describe(account), passwordHash: account.passwordHash };
      await work(account, tx);
      const after = describe(account);
      const fields = changedFields(before, { ...after, passwordHash: account.passwordHash });
      if (fields.length > 0) await saveAccount(tx, account); // before the tokens: a login that waits for the lock must find the change
      await changeTokens(tx, jobs, [account.id], tokens);
      if (fields.length > 0) recordAudit(tx, context, { target: targetOf(account), changes: describeRights(fields, after) });
      return { ...after, changed: fields.length > 0 };
    });
  }

  async function findPerson(person: number | string | undefined): Promise<number | undefined> {
    if (person === undefined || typeof person === 'number') return person;
    const row = await findPersonByKey(db, { key: person });
    if (row === undefined) throw personNotFound(person);
    return row.id;
  }

  return {
    ...createNameHandlers(db),
    listAccounts: async ({ after, limit, is_active: isActive, superuser, group }) => {
      requireGroups(group === undefined ? [] : [group]);
      const rows = await listAccounts(db, { after, isActive, superuser, group, limit: limit + 1 });
      const page = rows.slice(0, limit);
      const next = rows.length > limit ? (page.at(-1)?.email ?? null) : null;
      return jsonPage(
        page.map(({ item }) => item),
        next,
      );
    },
    createAccount: async (request, context) => {
      if (!isEmail(request.email)) throw appError('bad_request', 'invalid_email', `"${request.email}" is not an email address.`);
      requireGroups(request.groups ?? []);
      checkService(request);
      const personId = await findPerson(request.person);
      const passwordHash = request.password === undefined ? null : await hashNewPassword(passwords, request.password, request.email);
      const { insertAccount } = await loadUnits();
      return translate(request.email, personId, () =>
        jobs.transaction(async (tx) => {
          const account = await insertAccount(tx, {
            email: request.email.trim(),
            personId:
              request.service_name === undefined ? personId : await createServicePerson(tx, { jobs, eventOutbox }, request.service_name),
            passwordHash,
            superuser: request.superuser ?? false,
            globalEditor: request.global_editor ?? false,
            groups: request.groups ?? [],
          });
          const created = describe(account);
          const fields = ['superuser', 'global_editor', 'groups', ...(passwordHash === null ? [] : ['passwordHash'])];
          recordAudit(tx, context, { target: targetOf(account), changes: describeRights(fields, created) });
          return created;
        }),
      );
    },
    setPassword: async ({ email, password }, context) => {
      const hash = await hashNewPassword(passwords, password, email);
      return change(context, email, 'sign-out', async (account, tx) => {
        account.passwordHash = hash;
        await forgetAttempts(tx, { emailKeys: [emailThrottleKey(email)] });
      });
    },
    deactivateAccount: ({ email }, context) =>
      change(context, email, 'end', (account) => {
        account.isActive = false;
      }),
    grantAccount: async (request, context) => {
      requireGroups(request.add_groups ?? []);
      const personId = await findPerson(request.person);
      const removed = new Set(request.remove_groups ?? []);
      const { linkPerson } = await loadUnits();
      return translate(request.email, personId, () =>
        change(context, request.email, 'refresh', (account) => {
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
    deleteAccount: async ({ email }, context) => {
      const { deleteAccount } = await loadUnits();
      return jobs.transaction(async (tx) => {
        const account = await requireAccount(tx, email);
        await changeTokens(tx, jobs, [account.id], 'end');
        await forgetAttempts(tx, { emailKeys: [emailThrottleKey(email)] });
        const deleted = describe(account);
        recordAudit(tx, context, { target: targetOf(account), changes: { person_id: deleted.person_id } });
        await deleteAccount(tx, account);
        return deleted;
      });
    },
  };
}

async function requireAccount(tx: Tx, email: string): Promise<Account> {
  const { findAccountForUpdate } = await loadUnits();
  const account = await findAccountForUpdate(tx, email);
  if (account === null) throw appError('not_found', 'account_not_found', `There is no account with the email ${email.trim()}.`);
  return account;
}

/** A program's account has no password, and a person of its own (K2). @throws AppError `service_account` */
function checkService({ service_name: name, password, person }: Static<typeof accountRpcs.createAccount.request>): void {
  if (name === undefined || (!isBlank(name) && password === undefined && person === undefined)) return;
  throw appError('bad_request', 'service_account', 'The account of a service has a name, no password, and a person of its own.');
}

/** @throws AppError `unknown_group` */
function requireGroups(names: readonly string[]): void {
  const unknown = names.find((name) => !(accountGroups as readonly string[]).includes(name));
  if (unknown === undefined) return;
  throw appError('bad_request', 'unknown_group', `There is no group "${unknown}"; there is ${accountGroups.join(', ')}.`);
}

const targetOf = ({ id }: Account) => ({ type: 'account', id });

/** For the audit log: what these fields are now; of a password only that it changed, of the rest nothing that names a person. */
function describeRights(fields: readonly string[], account: AccountReply): Record<string, unknown> {
  const { superuser, global_editor: globalEditor, groups, is_active: isActive, person_id: personId } = account;
  const shown: Record<string, unknown> = { superuser, global_editor: globalEditor, groups, is_active: isActive, person_id: personId };
  return Object.fromEntries(fields.map((field) => (field === 'passwordHash' ? ['password', 'changed'] : [field, shown[field]])));
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

/** Creates the person of a program's account (K2). Returns its id. */
async function createServicePerson(tx: Tx, { jobs, eventOutbox }: { jobs: Jobs; eventOutbox: EventOutbox }, name: string): Promise<number> {
  const { id } = await insertServicePerson(tx, { name: name.trim() });
  await tellWritten(eventOutbox, tx, 'person', 'created', [id]);
  await jobs.emit(tx, peopleEvents.peopleChanged, { ids: [id] });
  return id;
}

type Asked = RequestOf<typeof accountRpcs.identifyAccounts>;

export function createNameHandlers(db: Database) {
  const identify = async ({ ids, email }: Asked) => ({ items: await nameAccounts(db, { ids, email }) });
  return {
    findReader: async ({ account_id: accountId }: RequestOf<typeof accountRpcs.findReader>) => {
      const row = await findReader(db, { accountId });
      if (row?.is_active !== true) return { reader: null, exists: row !== undefined };
      const { is_active: _active, ...reader } = row;
      return { reader, exists: true };
    },
    identifyAccounts: identify,
    nameAccounts: async (request: Asked, { actor }: { readonly actor?: Actor | undefined }) => {
      if (!mayReadOps(actor)) throw appError('permission_denied', 'not_an_operator', 'You may not see operations.');
      return identify(request);
    },
  };
}
