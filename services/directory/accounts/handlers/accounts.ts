/**
 * Operations on accounts of the admin CLI that work without a superuser: create, set password (rules/cli#admin-cli).
 * Also returns account emails for readers of the audit log (A1).
 */
import { requireOpsReader } from '#libs/infrastructure/actor';
import { type AuditContext, recordAudit } from '#libs/infrastructure/audit';
import { type Actor, isChatAgent, type RequestOf, type Static } from '#libs/infrastructure/contract';
import { appError } from '#libs/infrastructure/errors';
import type { HandlersOf } from '#libs/infrastructure/nats';
import { constraintOf, type Database, type Tx } from '#libs/infrastructure/orm';
import { isBlank } from '#libs/infrastructure/text';
import type { Dependencies } from '../../dependencies.ts';
import type { Account } from '../../entities/account.entity.ts';
import { peopleEvents } from '../../events/contract.ts';
import { emitWritten } from '../../events/index.ts';
import { isEmail } from '../../texts/index.ts';
import { changeTokens } from '../change-tokens.ts';
import { accountGroups, type accountRpcs } from '../contract.ts';
import { emailThrottleKey } from '../login-limits.ts';
import { hashNewPassword } from '../rules.ts';
import {
  accountEmailUnique,
  accountPersonForeign,
  findPersonByKey,
  findReader,
  insertServicePerson,
  nameAccounts,
} from '../statements/accounts.ts';
import { forgetAttempts } from '../statements/sessions.ts';

type AccountHandlers = HandlersOf<typeof accountRpcs>;
type AccountReply = Static<typeof accountRpcs.createAccount.reply>;

/** The module is loaded on the first write of an account, since few processes write accounts. */
const loadUnits = () => import('../statements/account-units.ts');

export function createAccountHandlers({
  db,
  jobs,
  eventOutbox,
  passwords,
  history,
}: Pick<Dependencies, 'db' | 'jobs' | 'eventOutbox' | 'passwords' | 'history'>): AccountHandlers {
  async function findPerson(person: number | string | undefined): Promise<number | undefined> {
    if (person === undefined || typeof person === 'number') return person;
    const row = await findPersonByKey(db, { key: person });
    if (row === undefined) throw personNotFound(person);
    return row.id;
  }

  return {
    ...createNameHandlers(db),
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
          const { superuser, global_editor: globalEditor, groups } = created;
          const password = passwordHash === null ? {} : { password: 'changed' };
          recordAudit(tx, context, {
            target: targetOf(account),
            changes: { superuser, global_editor: globalEditor, groups, ...password },
          });
          return created;
        }),
      );
    },
    setPassword: async ({ email, password, revoke_keys: endsKeys = false }, context) => {
      const hash = await hashNewPassword(passwords, password, email);
      const { saveAccount } = await loadUnits();
      return jobs.transaction(async (tx) => {
        const account = await requireAccount(tx, email);
        await history.recordChanges(tx, context, 'accounts', [account.id]);
        account.passwordHash = hash;
        await forgetAttempts(tx, { emailKeys: [emailThrottleKey(email)] });
        await saveAccount(tx, account); // The account is saved before the tokens: a login that waits for the row lock must see the change.
        await changeTokens(tx, jobs, [account.id], endsKeys ? 'end' : 'sign-out');
        recordAudit(tx, context, { target: targetOf(account), changes: { password: 'changed' } });
        return { ...describe(account), changed: true };
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
      if (!isForChats) requireOpsReader(actor);
      return identify(request);
    },
  };
}
