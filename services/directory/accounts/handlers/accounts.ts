/**
 * Operations on accounts: list, create, set password, deactivate, grant, delete (rules/cli#admin-cli). Also returns
 * account emails for readers of the audit log (A1).
 */
import { type AuditContext, changedFields, recordAudit } from '#libs/audit';
import { type Actor, isChatAgent, mayReadOps, type RequestOf, type Static } from '#libs/contract';
import { appError } from '#libs/errors';
import { type HandlersOf, jsonPage } from '#libs/nats';
import { constraintOf, type Database, type Tx } from '#libs/orm';
import { isBlank } from '#libs/text';
import type { Dependencies } from '../../dependencies.ts';
import type { Account } from '../../entities/account.entity.ts';
import { peopleEvents } from '../../events/contract.ts';
import { emitWritten } from '../../events/index.ts';
import { isEmail } from '../../texts/index.ts';
import { changeTokens, type TokenChange } from '../change-tokens.ts';
import { accountGroups, type accountRpcs } from '../contract.ts';
import { emailThrottleKey } from '../login-limits.ts';
import { hashNewPassword } from '../rules.ts';
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

type AccountHandlers = HandlersOf<typeof accountRpcs>;
type AccountReply = Static<typeof accountRpcs.createAccount.reply>;
type ChangedReply = Static<typeof accountRpcs.grantAccount.reply>;

/** The module is loaded on the first write of an account, since few processes write accounts. */
const loadUnits = () => import('../statements/account-units.ts');

export function createAccountHandlers({
  db,
  jobs,
  eventOutbox,
  passwords,
  history,
}: Pick<Dependencies, 'db' | 'jobs' | 'eventOutbox' | 'passwords' | 'history'>): AccountHandlers {
  /** Changes an account under its row lock, then clears its tokens from the gateways. */
  async function change(
    context: AuditContext,
    email: string,
    tokens: TokenChange,
    work: (account: Account, tx: Tx) => void | Promise<void>,
  ): Promise<ChangedReply> {
    const { saveAccount } = await loadUnits();
    return jobs.transaction(async (tx) => {
      const account = await requireAccount(tx, email);
      await history.recordChanges(tx, context, 'accounts', [account.id]);
      const before = { ...describe(account), passwordHash: account.passwordHash };
      await work(account, tx);
      const after = describe(account);
      const fields = changedFields(before, { ...after, passwordHash: account.passwordHash });
      if (fields.length > 0) await saveAccount(tx, account); // The account is saved before the tokens: a login that waits for the row lock must see the change.
      await changeTokens(tx, jobs, [account.id], tokens);
      if (fields.length > 0)
        recordAudit(tx, context, { target: targetOf(account), changes: describeRights(fields, after) });
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
      if (!isEmail(request.email))
        throw appError('bad_request', 'invalid_email', `"${request.email}" is not an email address.`);
      requireGroups(request.groups ?? []);
      checkService(request);
      const personId = await findPerson(request.person);
      const passwordHash =
        request.password === undefined ? null : await hashNewPassword(passwords, request.password, request.email);
      const { insertAccount } = await loadUnits();
      return translate(request.email, personId, () =>
        jobs.transaction(async (tx) => {
          const account = await insertAccount(tx, {
            email: request.email.trim(),
            personId:
              request.service_name === undefined
                ? personId
                : await createServicePerson(tx, { jobs, eventOutbox, history, context }, request.service_name),
            passwordHash,
            superuser: request.superuser ?? false,
            globalEditor: request.global_editor ?? false,
            groups: request.groups ?? [],
          });
          history.created(tx, context, 'accounts', [account.id]);
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
          // A group that an account already has can always be removed, even if the group no longer exists.
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
        await history.recordChanges(tx, context, 'accounts', [account.id]);
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
  if (account === null) throw appError('not_found', 'account_not_found', `No account has the email ${email.trim()}.`);
  return account;
}

/**
 * Checks settings of a program's account, which has no password and belongs to its own person (K2). @throws AppError
 * `service_account`
 */
function checkService({
  service_name: name,
  password,
  person,
}: Static<typeof accountRpcs.createAccount.request>): void {
  if (name === undefined || (!isBlank(name) && password === undefined && person === undefined)) return;
  throw appError('bad_request', 'service_account', 'A service account has a name, no password and its own person.');
}

/** Throws for a group that does not exist. @throws AppError `unknown_group` */
function requireGroups(names: readonly string[]): void {
  const unknown = names.find((name) => !(accountGroups as readonly string[]).includes(name));
  if (unknown === undefined) return;
  throw appError(
    'bad_request',
    'unknown_group',
    `The group "${unknown}" does not exist. Groups: ${accountGroups.join(', ')}.`,
  );
}

const targetOf = ({ id }: Account) => ({ type: 'account', id });

/**
 * Returns the current values of the changed fields for the audit log, without passwords and data that identifies a
 * person.
 */
function describeRights(fields: readonly string[], account: AccountReply): Record<string, unknown> {
  const { superuser, global_editor: globalEditor, groups, is_active: isActive, person_id: personId } = account;
  const values: Record<string, unknown> = {
    superuser,
    global_editor: globalEditor,
    groups,
    is_active: isActive,
    person_id: personId,
  };
  return Object.fromEntries(
    fields.map((field) => (field === 'passwordHash' ? ['password', 'changed'] : [field, values[field]])),
  );
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

/** Runs `work` and translates violated constraints into errors for the caller. */
async function translate<T>(email: string, personId: number | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const constraint = constraintOf(error);
    if (constraint === accountEmailUnique) {
      throw appError('conflict', 'account_exists', `The email ${email.trim()} belongs to another account.`);
    }
    throw constraint === accountPersonForeign && personId !== undefined ? personNotFound(personId) : error;
  }
}

function personNotFound(person: number | string): Error {
  return appError('not_found', 'person_not_found', `Person ${String(person)} does not exist.`);
}

/** Creates the person of a program's account (K2) and returns the person's id. */
async function createServicePerson(
  tx: Tx,
  {
    jobs,
    eventOutbox,
    history,
    context,
  }: Pick<Dependencies, 'jobs' | 'eventOutbox' | 'history'> & { readonly context: AuditContext },
  name: string,
): Promise<number> {
  const { id } = await insertServicePerson(tx, { name: name.trim() });
  history.created(tx, context, 'people', [id]);
  await emitWritten(eventOutbox, tx, 'person', 'created', [id]);
  await jobs.emit(tx, peopleEvents.peopleChanged, { ids: [id] });
  return id;
}

type IdentifyRequest = RequestOf<typeof accountRpcs.nameAccounts>;

function createNameHandlers(db: Database) {
  const identify = async ({ ids, email }: IdentifyRequest) => ({ items: await nameAccounts(db, { ids, email }) });
  return {
    findReader: async ({ account_id: accountId }: RequestOf<typeof accountRpcs.findReader>) => {
      const row = await findReader(db, { accountId });
      if (row?.is_active !== true) return { reader: null, exists: row !== undefined };
      const { is_active: _active, ...reader } = row;
      return { reader, exists: true };
    },
    nameAccounts: async (request: IdentifyRequest, { actor }: { readonly actor?: Actor | undefined }) => {
      // Chats have the ids of the operators that took them over.
      const isForChats = isChatAgent(actor) && request.email === undefined;
      if (!isForChats && !mayReadOps(actor))
        throw appError('permission_denied', 'not_an_operator', 'You do not have access to operations.');
      return identify(request);
    },
  };
}
