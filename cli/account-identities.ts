/** `accounts link|unlink EMAIL --subject SUB`, `accounts identities EMAIL` (rules/access#identity-provider; S2). */
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { directory } from '#services/directory';
import type { CliContext } from './context.ts';
import { moment } from './output/cell.ts';
import { fields, table } from './output/table.ts';

type Identity = ReplyOf<typeof directory.rpcs.listIdentities>['items'][number];

interface Named {
  subject: string;
  issuer?: string;
}

export function registerIdentities(accounts: Command, context: CliContext): void {
  const { linkIdentity, unlinkIdentity, listIdentities } = directory.rpcs;
  const takesIdentity = (command: Command): Command =>
    command
      .requiredOption('--subject <subject>', 'the `sub` of its tokens')
      .option('--issuer <url>', 'the `iss` of its tokens; default OIDC_ISSUER of the platform');

  takesIdentity(
    accounts.command('link <email>').description('Links who an identity provider names to the account, which it may use then'),
  ).action(async (email: string, named: Named) => {
    const linked = await context.call(linkIdentity, { email, ...named });
    const done = linked.changed ? 'Linked' : 'Nothing was changed, it is linked already';
    context.print(linked, `${done}: ${linked.account.email}`, fields({ issuer: linked.issuer, subject: linked.subject }));
  });
  takesIdentity(accounts.command('unlink <email>').description('Takes that back, at once, and ends the logins of the account')).action(
    async (email: string, named: Named) => {
      const unlinked = await context.call(unlinkIdentity, { email, ...named });
      const done = unlinked.changed ? 'Unlinked' : 'Nothing was changed, it is not linked';
      context.print(unlinked, `${done}: ${unlinked.account.email}`, fields({ issuer: unlinked.issuer, subject: unlinked.subject }));
    },
  );
  accounts
    .command('identities <email>')
    .description('Lists whom identity providers name that is linked to the account')
    .action(async (email: string) => {
      const { items, unlinked_at: unlinkedAt } = await context.call(listIdentities, { email });
      const view = table(items, columns, 'No identity.');
      const mark = 'An operator unlinked one; none is linked by the email until "accounts link".';
      context.print(items, view, ...(unlinkedAt === null ? [] : [mark]));
    });
}

const columns = {
  ISSUER: ({ issuer }: Identity) => issuer,
  SUBJECT: ({ subject }: Identity) => subject,
  BY: ({ linked_by: by }: Identity) => by,
  LINKED: ({ linked_at: at }: Identity) => moment(at),
};
