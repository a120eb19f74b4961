/** `accounts create|set-password|deactivate|grant EMAIL` (architecture §7). */
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { directory } from '#services/directory';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { toned } from './output/cell.ts';
import { fields, type View } from './output/table.ts';
import { askSecret } from './ask-secret.ts';

type Account = ReplyOf<typeof directory.rpcs.createAccount> & { readonly changed?: boolean };

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

const collect = (value: string, known: string[] | undefined): string[] => [...(known ?? []), value];

export function register(program: Command, context: CliContext): void {
  const accounts = program.command('accounts').description('Accounts that may log in');
  const { createAccount, setPassword, deactivateAccount, grantAccount } = directory.rpcs;
  const show = (account: Account, done: string): void => {
    const head = account.changed === false ? `Nothing was changed: ${account.email} is so already.` : `${done}: ${account.email}`;
    context.print(account, head, describeAccount(account));
  };

  accounts
    .command('create <email>')
    .description('Creates an account; without --password-env it cannot log in until a password is set')
    .option('--password-env <name>', 'environment variable that holds the password')
    .option('--person <id-or-key>', 'id or workspace key of its person')
    .option('--superuser', 'may do everything')
    .option('--global-editor', 'may edit everything of the open API')
    .option('--group <name>', 'member of this group; may be repeated', collect)
    .action(async (email: string, options: GrantOptions & PasswordOptions) => {
      const account = await context.call(createAccount, {
        email,
        superuser: options.superuser === true,
        global_editor: options.globalEditor === true,
        groups: options.group ?? [],
        ...(options.passwordEnv === undefined ? {} : { password: readVariable(options.passwordEnv) }),
        ...(options.person === undefined ? {} : { person: personOf(options.person) }),
      });
      show(account, 'Created');
    });

  accounts
    .command('set-password <email>')
    .description('Sets the password (asked for without --password-env) and revokes the tokens of the account')
    .option('--password-env <name>', 'environment variable that holds the password')
    .action(async (email: string, options: PasswordOptions) => {
      const password = options.passwordEnv === undefined ? await askPassword() : readVariable(options.passwordEnv);
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
    .description('Changes what the account may do; only what is named changes')
    .option('--superuser', 'may do everything')
    .option('--no-superuser', 'take that back')
    .option('--global-editor', 'may edit everything of the open API')
    .option('--no-global-editor', 'take that back')
    .option('--group <name>', 'add to this group, for example coherence_users; may be repeated', collect)
    .option('--remove-group <name>', 'remove from this group; may be repeated', collect)
    .option('--activate', 'make a deactivated account active again')
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
}

/** A number is an id, anything else a key of the workspace file. */
function personOf(text: string): number | string {
  return /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : text;
}

function readVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new CliError(`The environment variable ${name} is not set.`);
  return value;
}

async function askPassword(): Promise<string> {
  if (!process.stdin.isTTY) throw new CliError('There is no terminal to ask for the password; use --password-env NAME.');
  const password = await askSecret('New password: ');
  if (password === '') throw new CliError('The password must not be empty.');
  if ((await askSecret('Once more: ')) !== password) throw new CliError('The two passwords differ.');
  return password;
}

function describeAccount(account: Account): View {
  const rights = [...(account.superuser ? ['superuser'] : []), ...(account.global_editor ? ['global editor'] : [])];
  return fields({
    state: account.is_active ? toned('active', 'good') : toned('inactive', 'dim'),
    person: account.person_id ?? 'none',
    rights: rights.length === 0 ? 'none' : rights.join(', '),
    groups: account.groups.length === 0 ? 'none' : account.groups.join(', '),
  });
}
