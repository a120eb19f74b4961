/**
 * `accounts list|show|invite|grant|deactivate|reset-password|delete` over HTTP (W7), and `accounts
 * create|set-password`, which need no superuser (rules/cli#admin-cli).
 */
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/infrastructure/contract';
import { encodeCursor } from '#libs/infrastructure/cursor';
import { accountGroups, directory } from '#services/directory';
import type { CreateAccountRequest, UpdateAccountRequest } from '../clients/typescript/operations.ts';
import { registerIdentities } from './account-identities.ts';
import { type Account, findAccount } from './account.ts';
import { withConfirmation, withFormerName, withPages } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment, toned } from './output/cell.ts';
import { fields, table, type View } from './output/table.ts';
import { describeNext, readPages } from './pages.ts';
import { findPersonId } from './person-data/person.ts';
import { parseId } from './parse-options.ts';
import { promptSecret } from './prompt-secret.ts';
import { describeObject } from './write-options.ts';

type Stored = ReplyOf<typeof directory.rpcs.createAccount> & { readonly changed?: boolean };
type Invitation = { readonly url: string; readonly expires_at: string };

interface ListOptions {
  superuser?: true;
  inactive?: true;
  group?: string;
  limit: number;
  cursor?: string;
}

interface PasswordOptions {
  passwordEnv?: string;
}

interface Rights {
  superuser?: boolean;
  globalEditor?: boolean;
  group?: string[];
}

interface CreateOptions extends Rights, PasswordOptions {
  person?: string;
  service?: string;
}

interface GrantOptions extends Rights {
  removeGroup?: string[];
  activate?: true;
  person?: string;
}

interface InviteOptions extends Rights {
  person?: number;
}

const groupNames = accountGroups.join(', ');
const collect = (value: string, known: string[] | undefined): string[] => [...(known ?? []), value];

export function register(accounts: Command, context: CliContext): void {
  registerList(accounts, context);
  registerBreakGlass(accounts, context);
  registerInvitations(accounts, context);
  registerChanges(accounts, context);
  registerIdentities(accounts, context);
}

function registerList(accounts: Command, context: CliContext): void {
  const list = withPages(accounts.command('list'), 'accounts')
    .description('Lists accounts by email')
    .option('--superuser', 'only superusers')
    .option('--inactive', 'only deactivated accounts')
    .option('--group <name>', `only members of this group (${groupNames})`);
  withFormerName(list, '--after <email>', '--cursor', (email) => encodeCursor(['accounts', email])).action(
    async ({ superuser, inactive, group, ...page }: ListOptions) => {
      const filter = {
        ...(superuser === undefined ? {} : { superuser }),
        ...(inactive === undefined ? {} : { active: false }),
        ...(group === undefined ? {} : { group }),
      };
      const listed = await readPages(
        page,
        async (query) => (await context.http((api) => api.listAccounts({ query: { ...filter, ...query } }))).body,
      );
      context.print(listed.items.map(toStored), table(listed.items, columns, 'No accounts.'), ...describeNext(listed));
    },
  );

  accounts
    .command('show <email-or-id>')
    .description('Shows an account with its rights')
    .action(async (emailOrId: string) => {
      const { account } = await findAccount(context, emailOrId);
      context.print(account, describeObject(account));
    });
}

/** Commands that work over NATS, so that an installation without a superuser or gateway can be administered. */
function registerBreakGlass(accounts: Command, context: CliContext): void {
  accounts
    .command('create <email>')
    .description('Creates an account; without --password-env it cannot log in until a password is set')
    .option('--password-env <name>', 'environment variable that holds the password')
    .option('--person <id-or-key>', 'id or workspace key of its person')
    .option(
      '--service <name>',
      'account of a program, without a password; creates a person with this name. Create its token with `keys create`',
    )
    .option('--superuser', 'all rights')
    .option('--global-editor', 'can edit everything in the open API')
    .option('--group <name>', `member of this group (${groupNames}); may be repeated`, collect)
    .action(async (email: string, options: CreateOptions) => {
      const account = await context.call(directory.rpcs.createAccount, {
        email,
        superuser: options.superuser === true,
        global_editor: options.globalEditor === true,
        groups: options.group ?? [],
        ...(options.passwordEnv === undefined ? {} : { password: readVariable(options.passwordEnv) }),
        ...(options.person === undefined ? {} : { person: personOf(options.person) }),
        ...(options.service === undefined ? {} : { service_name: options.service }),
      });
      show(context, account, 'Created');
    });

  accounts
    .command('set-password <email>')
    .description('Sets the password (prompts without --password-env) and revokes the tokens of the account')
    .option('--password-env <name>', 'environment variable that holds the password')
    .action(async (email: string, options: PasswordOptions) => {
      const password =
        options.passwordEnv === undefined ? await promptForPassword() : readVariable(options.passwordEnv);
      show(
        context,
        await context.call(directory.rpcs.setPassword, { email, password }),
        'Password set, tokens revoked',
      );
    });
}

function registerInvitations(accounts: Command, context: CliContext): void {
  accounts
    .command('invite <email>')
    .description('Creates an account and prints an invitation, with which its user sets the password')
    .option('--person <id>', 'its person', parseId)
    .option('--superuser', 'all rights')
    .option('--global-editor', 'can edit everything in the open API')
    .option('--group <name...>', 'member of these groups')
    .action(async (email: string, { person, superuser, globalEditor, group }: InviteOptions) => {
      const body: CreateAccountRequest['body'] = {
        email,
        ...(person === undefined ? {} : { person_id: person }),
        ...(superuser === undefined ? {} : { superuser }),
        ...(globalEditor === undefined ? {} : { global_editor: globalEditor }),
        ...(group === undefined ? {} : { groups: group }),
      };
      const created = (await context.http((api) => api.createAccount({ body }))).body;
      context.print(created, ...describeInvitation(`Created the account ${email}.`, created.invitation));
    });

  withConfirmation(accounts.command('reset-password <email-or-id>'))
    .description('Ends the password and all sessions of an account, and prints an invitation for a new password')
    .action(async (emailOrId: string, { yes }: { yes?: true }) => {
      const { id, email } = (await findAccount(context, emailOrId)).account;
      if (yes !== true) await confirm(`This ends the password and all sessions of ${email}.`, email);
      const call = { path: { account_id: id } };
      const reply = (await context.http((api) => api.resetAccountPassword(call), `account ${emailOrId}`)).body;
      context.print(reply, ...describeInvitation(`The password of ${email} has ended.`, reply.invitation));
    });
}

const describeInvitation = (done: string, { url, expires_at: end }: Invitation): string[] => [
  `${done} Send this address to its user, it is not shown again and is valid until ${end}:`,
  url,
];

function registerChanges(accounts: Command, context: CliContext): void {
  accounts
    .command('deactivate <email-or-id>')
    .description('Deactivates the account and revokes its tokens')
    .action(async (emailOrId: string) => {
      const { account } = await findAccount(context, emailOrId);
      show(context, await update(context, account.id, { active: false }), 'Deactivated, tokens revoked');
    });

  accounts
    .command('grant <email-or-id>')
    .description('Changes the rights of the account; rights that are not named stay unchanged')
    .option('--superuser', 'all rights')
    .option('--no-superuser', 'revoke that right')
    .option('--global-editor', 'can edit everything in the open API')
    .option('--no-global-editor', 'revoke that right')
    .option('--group <name>', `add to this group (${groupNames}); may be repeated`, collect)
    .option('--remove-group <name>', 'remove from this group; may be repeated', collect)
    .option('--activate', 'reactivate a deactivated account')
    .option('--person <id-or-key>', 'id or workspace key of its person')
    .action(async (emailOrId: string, options: GrantOptions) => {
      const { account, etag } = await findAccount(context, emailOrId);
      const { superuser, globalEditor, activate, person, group, removeGroup } = options;
      const body: UpdateAccountRequest['body'] = {
        ...(superuser === undefined ? {} : { superuser }),
        ...(globalEditor === undefined ? {} : { global_editor: globalEditor }),
        ...(activate === undefined ? {} : { active: true }),
        ...(person === undefined ? {} : { person_id: await findPersonId(context, person) }),
        ...(group === undefined && removeGroup === undefined
          ? {}
          : { groups: changeGroups(account.groups, group, removeGroup) }),
      };
      show(context, await update(context, account.id, body, etag), 'Changed');
    });

  withConfirmation(accounts.command('delete <email-or-id>'))
    .description(
      'Permanently deletes the account and revokes its tokens; its person remains (`people erase` removes people)',
    )
    .action(async (emailOrId: string, { yes }: { yes?: true }) => {
      const { account } = await findAccount(context, emailOrId);
      const { id, email } = account;
      if (yes !== true) await confirm(`This deletes the account ${email} and cannot be undone.`, email, 'use --yes');
      await context.http((api) => api.deleteAccount({ path: { account_id: id } }), `account ${emailOrId}`);
      show(context, toStored(account), 'Deleted, tokens revoked');
    });
}

/** @throws CliError for a group to remove that neither exists nor is a group of the account */
function changeGroups(current: readonly string[], added: readonly string[] = [], removed: readonly string[] = []) {
  const known = new Set<string>([...accountGroups, ...current]);
  const unknown = removed.find((name) => !known.has(name));
  if (unknown !== undefined) throw new CliError(`The group "${unknown}" does not exist. Groups: ${groupNames}.`);
  return [...new Set([...current, ...added])].filter((name) => !removed.includes(name));
}

async function update(context: CliContext, id: number, body: UpdateAccountRequest['body'], etag?: string) {
  const headers = etag === undefined ? {} : { headers: { 'If-Match': etag } };
  const call = { path: { account_id: id }, body, ...headers };
  const { account, changes } = (await context.http((api) => api.updateAccount(call))).body;
  return { ...toStored(account), changed: Object.keys(changes).length > 0 };
}

/** Returns the account with the field names of earlier releases. */
const toStored = (account: Account): Account & { readonly is_active: boolean } => ({
  ...account,
  is_active: account.active,
});

function show(context: CliContext, account: Stored, done: string): void {
  const head = account.changed === false ? `Nothing changed: ${account.email}` : `${done}: ${account.email}`;
  context.print(account, head, describeAccount(account));
}

const columns = {
  EMAIL: ({ email }: Account) => email,
  STATE: ({ active, has_password: hasPassword }: Account) =>
    active ? toned(hasPassword ? 'active' : 'no password', hasPassword ? 'good' : 'dim') : toned('inactive', 'dim'),
  RIGHTS: (account: Account) => [...rightsOf(account), ...account.groups].join(', '),
  CREATED: ({ created_at: at }: Account) => moment(at),
  PERSON: ({ person_id: id, person_name: name }: Account) => (id === null ? null : `${id} ${name ?? ''}`),
};

function rightsOf(account: Pick<Account, 'superuser' | 'global_editor'>): string[] {
  return [...(account.superuser ? ['superuser'] : []), ...(account.global_editor ? ['global editor'] : [])];
}

/** Parses a person: a number is an id, any other text is a key of the workspace file. */
function personOf(text: string): number | string {
  return /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : text;
}

function readVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new CliError(`The environment variable ${name} is not set.`);
  return value;
}

async function promptForPassword(): Promise<string> {
  if (!process.stdin.isTTY) throw new CliError('No terminal for the password prompt; use --password-env NAME.');
  const password = await promptSecret('New password: ');
  if (password === '') throw new CliError('The password must not be empty.');
  if ((await promptSecret('Repeat the password: ')) !== password) throw new CliError('The two passwords differ.');
  return password;
}

function describeAccount(account: Stored): View {
  const rights = rightsOf(account);
  return fields({
    state: account.is_active ? toned('active', 'good') : toned('inactive', 'dim'),
    person: account.person_id ?? 'none',
    rights: rights.length === 0 ? 'none' : rights.join(', '),
    groups: account.groups.length === 0 ? 'none' : account.groups.join(', '),
  });
}
