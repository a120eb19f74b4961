/** Accounts in the open API: list, read, create with an invitation, update, delete, reset of the password (W7, W19). */
import { changedFields, recordAudit } from '#libs/infrastructure/audit';
import { isPossibleId } from '#libs/infrastructure/contract';
import { decodeCursor, encodeCursor } from '#libs/infrastructure/cursor';
import { appError, badRequest, notFound } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import { type Handler, type HandlersOf, jsonPage, rawJson, withEtag } from '#libs/infrastructure/nats';
import { constraintOf, type Tx } from '#libs/infrastructure/orm';
import type { Dependencies } from '../../dependencies.ts';
import type { Account } from '../../entities/account.entity.ts';
import { bodyOf, checkIfMatch } from '../../lists/index.ts';
import { isEmail } from '../../texts/index.ts';
import { changeTokens } from '../change-tokens.ts';
import { accountGroups, accountsPerPage, type AccountUpdate, type managedAccountRpcs } from '../contract.ts';
import { emailThrottleKey } from '../login-limits.ts';
import {
  accountEmailUnique,
  accountPersonForeign,
  getAccount,
  replaceTeams,
  searchAccounts,
  teamHolonForeign,
} from '../statements/accounts.ts';
import { putInvitation } from '../statements/invitations.ts';
import { forgetAttempts } from '../statements/sessions.ts';
import { requireSuperuser, retainSuperuser } from '../superusers.ts';

type ManagedDependencies = Pick<Dependencies, 'db' | 'jobs' | 'idempotency' | 'history'>;
type Rights = Omit<AccountUpdate, 'active'>;

const loadUnits = () => import('../statements/account-units.ts');

export function createManagedAccountHandlers(
  deps: ManagedDependencies,
): Omit<HandlersOf<typeof managedAccountRpcs>, 'acceptInvitation'> {
  const { db } = deps;
  return {
    searchAccounts: async ({ q, active, superuser, group, limit = accountsPerPage, cursor }, { actor }) => {
      requireSuperuser(actor);
      if (group !== undefined) checkGroups([group]);
      const filter = { text: q?.trim(), isActive: active, superuser, group };
      const rows = await searchAccounts(db, { ...filter, after: readCursor(cursor), limit: limit + 1 });
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return jsonPage(
        page.map(({ item }) => item),
        last === undefined ? null : encodeCursor(['accounts', last.email]),
      );
    },
    getAccount: async ({ account_id: id }, { actor }) => {
      requireSuperuser(actor);
      return bodyOf(isPossibleId(id) ? await getAccount(db, { accountId: id }) : undefined);
    },
    inviteAccount: createInviteAccount(deps),
    updateAccount: createUpdateAccount(deps),
    deleteAccount: createDeleteAccount(deps),
    resetAccountPassword: createResetPassword(deps),
  };
}

function createInviteAccount({
  idempotency,
  history,
}: ManagedDependencies): Handler<typeof managedAccountRpcs.inviteAccount> {
  return async ({ seed, token_sha256: tokenSha256, ...request }, context) => {
    requireSuperuser(context.actor);
    const { insertAccount } = await loadUnits();
    const create = async (tx: Tx) => {
      if (!isEmail(request.email)) throw badRequest('email is not an email address.');
      checkRights(request);
      const account = await translate(() =>
        insertAccount(tx, {
          email: request.email.trim(),
          personId: request.person_id ?? undefined,
          passwordHash: null,
          superuser: request.superuser ?? false,
          globalEditor: request.global_editor ?? false,
          groups: sorted(request.groups ?? []),
        }),
      );
      const { id } = account;
      await writeTeams(tx, id, request.teams);
      history.created(tx, context, 'accounts', [id]);
      const changes = { superuser: account.superuser, global_editor: account.globalEditor, groups: account.groups };
      recordAudit(tx, context, { target: targetOf(id), changes: { ...changes, ...describeTeams(request) } });
      const invitation = await invite(tx, id, seed, tokenSha256);
      const body = await readBody(tx, id);
      return withEtag(rawJson(`${body.slice(0, -1)},"invitation":${invitation}}`), entityTag(body));
    };
    return idempotency.run(context, request, create, { isAuthorized: true });
  };
}

function createUpdateAccount({
  jobs,
  idempotency,
  history,
}: ManagedDependencies): Handler<typeof managedAccountRpcs.updateAccount> {
  return async (request, context) => {
    requireSuperuser(context.actor);
    const { account_id: id, if_match: tag, ...update } = request;
    const { linkPerson, saveAccount } = await loadUnits();
    const write = async (tx: Tx) => {
      const account = await lockAccount(tx, id);
      await checkIfMatch(tag, () => getAccount(tx, { accountId: id }));
      // An account keeps groups that no longer exist until they are removed.
      const known = new Set(account.groups);
      checkRights({ ...update, groups: (update.groups ?? []).filter((name) => !known.has(name)) });
      const tracked = await history.recordChanges(tx, context, 'accounts', [id]);
      const before = readRights(account);
      account.isActive = update.active ?? account.isActive;
      account.superuser = update.superuser ?? account.superuser;
      account.globalEditor = update.global_editor ?? account.globalEditor;
      if (update.groups !== undefined) account.groups = sorted(update.groups);
      if (update.person_id !== undefined) linkPerson(account, update.person_id);
      const after = readRights(account);
      const fields = changedFields(before, after);
      if (fields.length > 0) await translate(() => saveAccount(tx, account));
      await writeTeams(tx, id, update.teams);
      const changes = await tracked.changesOf(id);
      if (fields.length > 0) await changeTokens(tx, jobs, [id], after.active ? 'refresh' : 'end');
      if (Object.keys(changes).length > 0) {
        const written = Object.fromEntries(fields.map((field) => [field, after[field as keyof typeof after]]));
        recordAudit(tx, context, {
          target: targetOf(id),
          changes: { ...written, ...('teams' in changes ? describeTeams(update) : {}) },
        });
      }
      const body = await readBody(tx, id);
      return withEtag(rawJson(`${body.slice(0, -1)},"changes":${JSON.stringify(changes)}}`), entityTag(body));
    };
    const isDemotion = update.active === false || update.superuser === false;
    return idempotency.run(context, request, (tx) => (isDemotion ? retainSuperuser(tx, () => write(tx)) : write(tx)));
  };
}

function createDeleteAccount({ jobs, history }: ManagedDependencies): Handler<typeof managedAccountRpcs.deleteAccount> {
  return async ({ account_id: id, if_match: tag }, context) => {
    requireSuperuser(context.actor);
    const { deleteAccount } = await loadUnits();
    return jobs.transaction((tx) =>
      retainSuperuser(tx, async () => {
        const account = await lockAccount(tx, id);
        await checkIfMatch(tag, () => getAccount(tx, { accountId: id }));
        await history.recordChanges(tx, context, 'accounts', [id]);
        await changeTokens(tx, jobs, [id], 'end');
        await forgetAttempts(tx, { emailKeys: [emailThrottleKey(account.email)] });
        recordAudit(tx, context, { target: targetOf(id), changes: { person_id: account.person?.id ?? null } });
        await deleteAccount(tx, account);
        return {};
      }),
    );
  };
}

function createResetPassword({
  jobs,
  idempotency,
  history,
}: ManagedDependencies): Handler<typeof managedAccountRpcs.resetAccountPassword> {
  return async ({ seed, token_sha256: tokenSha256, ...request }, context) => {
    requireSuperuser(context.actor);
    const { account_id: id, if_match: tag } = request;
    const { saveAccount } = await loadUnits();
    return idempotency.run(context, request, async (tx) => {
      const account = await lockAccount(tx, id);
      await checkIfMatch(tag, () => getAccount(tx, { accountId: id }));
      if (!account.isActive) throw appError('conflict', 'account_inactive', 'The account is deactivated.');
      await history.recordChanges(tx, context, 'accounts', [id]);
      account.passwordHash = null;
      await saveAccount(tx, account);
      await changeTokens(tx, jobs, [id], 'sign-out');
      await forgetAttempts(tx, { emailKeys: [emailThrottleKey(account.email)] });
      recordAudit(tx, context, { target: targetOf(id), changes: { password: 'changed' } });
      return rawJson(`{"invitation":${await invite(tx, id, seed, tokenSha256)}}`);
    });
  };
}

async function lockAccount(tx: Tx, id: number): Promise<Account> {
  const { lockAccountById } = await loadUnits();
  const account = isPossibleId(id) ? await lockAccountById(tx, id) : null;
  if (account === null) throw notFound();
  return account;
}

const targetOf = (id: number) => ({ type: 'account', id });
const sorted = (groups: readonly string[]): string[] => [...new Set(groups)].toSorted();

/** Checks values that the schema does not check. @throws AppError 400 */
function checkRights({ groups = [], teams = [], person_id: personId }: Rights): void {
  checkGroups(groups);
  if (typeof personId === 'number' && !isPossibleId(personId)) throw unknownPerson();
  const holonIds = teams.map(({ holon_id: id }) => id);
  if (!holonIds.every(isPossibleId)) throw unknownHolon();
  if (new Set(holonIds).size < holonIds.length) throw badRequest('teams names a holon twice.');
}

function checkGroups(groups: readonly string[]): void {
  const unknown = groups.find((name) => !(accountGroups as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw badRequest(`The group "${unknown}" does not exist. Groups: ${accountGroups.join(', ')}.`);
}

async function writeTeams(tx: Tx, accountId: number, teams: Rights['teams']): Promise<void> {
  if (teams === undefined) return;
  const holonIds = teams.map(({ holon_id: id }) => id);
  await translate(() => replaceTeams(tx, { accountId, holonIds, areActive: teams.map(({ active = true }) => active) }));
}

const describeTeams = ({ teams }: Rights): Record<string, unknown> => (teams === undefined ? {} : { teams });

/** Returns the rights by the names of the request. */
function readRights({ isActive: active, superuser, globalEditor, groups, person }: Account) {
  return { active, superuser, global_editor: globalEditor, groups, person_id: person?.id ?? null };
}

async function readBody(tx: Tx, accountId: number): Promise<string> {
  const row = await getAccount(tx, { accountId });
  if (row === undefined) throw notFound();
  return row.body;
}

/** Stores an invitation and returns its JSON. */
async function invite(tx: Tx, accountId: number, seed: string, tokenSha256: string): Promise<string> {
  const { expires_at: expiresAt } = await putInvitation(tx, {
    accountId,
    tokenSha256: Buffer.from(tokenSha256, 'base64url'),
  });
  return JSON.stringify({ seed, expires_at: expiresAt });
}

/** Translates violated constraints. @throws AppError 400, 409 `email_taken` */
async function translate<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const constraint = constraintOf(error);
    if (constraint === accountEmailUnique) throw appError('conflict', 'email_taken', 'Another account has this email.');
    if (constraint === accountPersonForeign) throw unknownPerson();
    throw constraint === teamHolonForeign ? unknownHolon() : error;
  }
}

const unknownPerson = () => badRequest('person_id is not the id of a person.');
const unknownHolon = () => badRequest('teams has a holon_id that is not the id of a holon.');

function readCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const [list, email] = decodeCursor(cursor) ?? [];
  if (list !== 'accounts' || typeof email !== 'string')
    throw badRequest('cursor must be the `next` of an earlier page.');
  return email;
}
