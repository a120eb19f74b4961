/**
 * `accounts link|unlink EMAIL --subject SUB` and `accounts identities EMAIL`: the identities of an account at the
 * identity provider (rules/access#identity-provider; S2).
 */
import type { Command } from 'commander';
import type { ListAccountIdentitiesReply } from '../clients/typescript/operations.ts';
import { findAccountId } from './account.ts';
import type { CliContext } from './context.ts';
import { moment } from './output/cell.ts';
import { fields, table } from './output/table.ts';

type Identity = ListAccountIdentitiesReply['body']['items'][number];

interface Named {
  subject: string;
  issuer?: string;
}

export function registerIdentities(accounts: Command, context: CliContext): void {
  const takesIdentity = (command: Command): Command =>
    command
      .requiredOption('--subject <subject>', '`sub` claim of the tokens')
      .option('--issuer <url>', '`iss` claim of the tokens (default: OIDC_ISSUER of the platform)');

  takesIdentity(
    accounts
      .command('link <email>')
      .description('Links an identity of an identity provider to the account, which can then log in with it'),
  ).action(async (email: string, named: Named) => {
    const path = { account_id: await findAccountId(context, email) };
    const linked = (await context.http((api) => api.linkAccountIdentity({ path, body: named }))).body;
    const done = linked.changed ? 'Linked' : 'Nothing changed: already linked';
    context.print(
      linked,
      `${done}: ${linked.account.email}`,
      fields({ issuer: linked.issuer, subject: linked.subject }),
    );
  });
  takesIdentity(
    accounts.command('unlink <email>').description('Removes the link at once, and ends the sessions of the account'),
  ).action(async (email: string, named: Named) => {
    const path = { account_id: await findAccountId(context, email) };
    const unlinked = (await context.http((api) => api.unlinkAccountIdentity({ path, body: named }))).body;
    const done = unlinked.changed ? 'Unlinked' : 'Nothing changed: not linked';
    context.print(
      unlinked,
      `${done}: ${unlinked.account.email}`,
      fields({ issuer: unlinked.issuer, subject: unlinked.subject }),
    );
  });
  accounts
    .command('identities <email>')
    .description('Lists the identities that are linked to the account')
    .action(async (email: string) => {
      const path = { account_id: await findAccountId(context, email) };
      const { items, unlinked_at: unlinkedAt } = (await context.http((api) => api.listAccountIdentities({ path })))
        .body;
      const view = table(items, columns, 'No identities.');
      const mark =
        'An operator unlinked an identity: identities are no longer linked by email. Link one with "accounts link".';
      context.print(items, view, ...(unlinkedAt === null ? [] : [mark]));
    });
}

const columns = {
  ISSUER: ({ issuer }: Identity) => issuer,
  SUBJECT: ({ subject }: Identity) => subject,
  BY: ({ linked_by: by }: Identity) => by,
  LINKED: ({ linked_at: at }: Identity) => moment(at),
};
