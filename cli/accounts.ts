/** `accounts list`, `accounts create|set-password|deactivate|grant|delete EMAIL` (rules/cli#admin-cli). */
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { accountGroups, directory } from '#services/directory';
import { registerAccountCommands } from './account-commands.ts';
import { registerIdentities } from './account-identities.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment, toned } from './output/cell.ts';
import { fields, table, type View } from './output/table.ts';
import { promptSecret } from './prompt-secret.ts';
import { parseLimit } from './parse-options.ts';

type Account = ReplyOf<typeof directory.rpcs.createAccount> & { readonly changed?: boolean };
type Listed = ReplyOf<typeof directory.rpcs.listAccounts>['items'][number];

interface ListOptions {
  superuser?: true;
  inactive?: true;
  group?: string;
  limit: number;
  after?: string;
}

interface PasswordOptions {
  passwordEnv?: string;
}

interface GrantOptions {
  superuser?: boolean;
  globalEditor?: boolean;
  group?: string[];
  removeGroup?: string[];
  activate?: true;
  person?: string;
}

const groupNames = accountGroups.join(', ');
const collect = (value: string, known: string[] | undefined): string[] => [...(known ?? []), value];

export function register(accounts: Command, context: CliContext): void {
  const { createAccount, setPassword, deactivateAccount, grantAccount, deleteAccount } = directory.rpcs;
  const show = (account: Account, done: string): void => {
    const head = account.changed === false ? `Nothing changed: ${account.email}` : `${done}: ${account.email}`;
    context.print(account, head, describeAccount(account));
  };

  registerList(accounts, context);
  registerIdentities(accounts, context);
  registerAccountCommands(accounts, context);

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
    .action(async (email: string, options: GrantOptions & PasswordOptions & { service?: string }) => {
      const account = await context.call(createAccount, {
        email,
        superuser: options.superuser === true,
        global_editor: options.globalEditor === true,
        groups: options.group ?? [],
        ...(options.passwordEnv === undefined ? {} : { password: readVariable(options.passwordEnv) }),
        ...(options.person === undefined ? {} : { person: personOf(options.person) }),
        ...(options.service === undefined ? {} : { service_name: options.service }),
      });
      show(account, 'Created');
    });

  accounts
    .command('set-password <email>')
    .description('Sets the password (prompts without --password-env) and revokes the tokens of the account')
    .option('--password-env <name>', 'environment variable that holds the password')
    .action(async (email: string, options: PasswordOptions) => {
      const password =
        options.passwordEnv === undefined ? await promptForPassword() : readVariable(options.passwordEnv);
      show(await context.call(setPassword, { email, password }), 'Password set, tokens revoked');
    });

  accounts
    .command('deactivate <email>')
    .description('Deactivates the account and revokes its tokens')
    .action(async (email: string) => {
      show(await context.call(deactivateAccount, { email }), 'Deactivated, tokens revoked');
    });

  accounts
    .command('grant <email>')
    .description('Changes the rights of the account; rights that are not named stay unchanged')
    .option('--superuser', 'all rights')
    .option('--no-superuser', 'revoke that right')
    .option('--global-editor', 'can edit everything in the open API')
    .option('--no-global-editor', 'revoke that right')
    .option('--group <name>', `add to this group (${groupNames}); may be repeated`, collect)
    .option('--remove-group <name>', 'remove from this group; may be repeated', collect)
    .option('--activate', 'reactivate a deactivated account')
    .option('--person <id-or-key>', 'id or workspace key of its person')
    .action(async (email: string, options: GrantOptions) => {
      const account = await context.call(grantAccount, {
        email,
        ...(options.superuser === undefined ? {} : { superuser: options.superuser }),
        ...(options.globalEditor === undefined ? {} : { global_editor: options.globalEditor }),
        ...(options.activate === undefined ? {} : { activate: true }),
        ...(options.person === undefined ? {} : { person: personOf(options.person) }),
        add_groups: options.group ?? [],
        remove_groups: options.removeGroup ?? [],
      });
      show(account, 'Changed');
    });

  accounts
    .command('delete <email>')
    .description(
      'Permanently deletes the account and revokes its tokens; its person remains (`people erase` removes people)',
    )
    .option('--yes', 'skip the confirmation')
    .action(async (email: string, { yes }: { yes?: true }) => {
      if (yes !== true) await confirm(`This deletes the account ${email} and cannot be undone.`, email, 'use --yes');
      show(await context.call(deleteAccount, { email }), 'Deleted, tokens revoked');
    });
}

function registerList(accounts: Command, context: CliContext): void {
  accounts
    .command('list')
    .description('Lists accounts by email')
    .option('--superuser', 'only superusers')
    .option('--inactive', 'only deactivated accounts')
    .option('--group <name>', `only members of this group (${groupNames})`)
    .option('--limit <count>', 'accounts per page, at most 1000', parseLimit, 100)
    .option('--after <email>', 'accounts after this email')
    .action(async ({ superuser, inactive, group, limit, after }: ListOptions) => {
      const { items, next } = await context.call(directory.rpcs.listAccounts, {
        limit,
        ...(superuser === undefined ? {} : { superuser }),
        ...(inactive === undefined ? {} : { is_active: false }),
        ...(group === undefined ? {} : { group }),
        ...(after === undefined ? {} : { after }),
      });
      context.print(
        items,
        table(items, accountColumns, 'No accounts.'),
        ...(next === null ? [] : [`More results: --after ${next}`]),
      );
    });
}

const accountColumns = {
  EMAIL: ({ email }: Listed) => email,
  STATE: ({ is_active: isActive, has_password: hasPassword }: Listed) =>
    isActive ? toned(hasPassword ? 'active' : 'no password', hasPassword ? 'good' : 'dim') : toned('inactive', 'dim'),
  RIGHTS: (account: Listed) => [...rightsOf(account), ...account.groups].join(', '),
  CREATED: ({ created_at: at }: Listed) => moment(at),
  PERSON: ({ person_id: id, person_name: name }: Listed) => (id === null ? null : `${id} ${name ?? ''}`),
};

function rightsOf(account: Account): string[] {
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

function describeAccount(account: Account): View {
  const rights = rightsOf(account);
  return fields({
    state: account.is_active ? toned('active', 'good') : toned('inactive', 'dim'),
    person: account.person_id ?? 'none',
    rights: rights.length === 0 ? 'none' : rights.join(', '),
    groups: account.groups.length === 0 ? 'none' : account.groups.join(', '),
  });
}
