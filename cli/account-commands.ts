/** `accounts show|invite|reset-password` over HTTP (W7). */
import type { Command } from 'commander';
import type { CreateAccountReply, CreateAccountRequest } from '../clients/typescript/operations.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { parseId } from './parse-options.ts';
import { describeObject } from './write-options.ts';

type Account = CreateAccountReply['body']['account'];
type Invitation = CreateAccountReply['body']['invitation'];

interface InviteOptions {
  readonly person?: number;
  readonly superuser?: true;
  readonly globalEditor?: true;
  readonly group?: string[];
}

export function registerAccountCommands(accounts: Command, context: CliContext): void {
  accounts
    .command('show <email-or-id>')
    .description('Shows an account with its rights')
    .action(async (emailOrId: string) => {
      const account = await findAccount(context, emailOrId);
      context.print(account, describeObject(account));
    });

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

  accounts
    .command('reset-password <email-or-id>')
    .description('Ends the password and all sessions of an account, and prints an invitation for a new password')
    .option('--yes', 'skip the confirmation')
    .action(async (emailOrId: string, { yes }: { yes?: true }) => {
      const { id, email } = await findAccount(context, emailOrId);
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

async function findAccount(context: CliContext, emailOrId: string): Promise<Account> {
  if (/^\d{1,10}$/.test(emailOrId)) {
    const call = { path: { account_id: Number(emailOrId) } };
    return (await context.http((api) => api.getAccount(call), `account ${emailOrId}`)).body.account;
  }
  const email = emailOrId.toLowerCase();
  let cursor: string | undefined;
  do {
    const query = { q: emailOrId, limit: 200, ...(cursor === undefined ? {} : { cursor }) };
    const { items, next } = (await context.http((api) => api.listAccounts({ query }))).body;
    const found = items.find((account) => account.email.toLowerCase() === email);
    if (found !== undefined) return found;
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  throw new CliError(`There is no account ${emailOrId}.`, 'not_found');
}
