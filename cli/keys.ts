/** `keys create [EMAIL]`, `keys list [EMAIL]`, `keys show|rotate|revoke ID` (rules/cli#admin-cli; K9). */
import type { Command } from 'commander';
import { type ReplyOf, scopes } from '#libs/contract';
import { directory, maxOverlapSeconds } from '#services/directory';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { moment, toned } from './output/cell.ts';
import { fields, table, type View } from './output/table.ts';
import { CliError } from './failure.ts';
import { parseId, parseLimit, parseOffset, parseTime } from './parse-options.ts';

type Key = ReplyOf<typeof directory.rpcs.revokeAnyKey>['key'];
type CreatedEndpoints = ReplyOf<typeof directory.rpcs.revokeAnyKey>['webhook_endpoints'];
type CreatedEndpoint = NonNullable<CreatedEndpoints>[number];
type Issued = ReplyOf<typeof directory.rpcs.issueKey>;

interface CreateOptions {
  account?: number;
  name: string;
  scope: string[];
  expiresAt?: string;
}

interface ListOptions {
  limit: number;
  offset: number;
  account?: number;
}

export function register(keys: Command, context: CliContext): void {
  const { issueKey, listAllKeys, showAnyKey, rotateAnyKey, revokeAnyKey } = directory.rpcs;
  const showToken = (issued: Issued, done: string): void =>
    context.print(
      issued,
      `${done}: ${issued.key.name}. Copy the token now, it is not shown again:`,
      issued.token,
      describeKey(issued.key),
    );

  keys
    .command('create [email]')
    .description('Creates a key for an account and prints its token, once')
    .option('--account <id>', 'id of the account, instead of its email', parseId)
    .requiredOption('--name <name>', 'purpose of the key')
    .requiredOption('--scope <scope...>', `permissions: "*" or one or more of ${scopes.join(', ')}`)
    .option('--expires-at <time>', 'expiry time: a date or an instant', (text: string) => parseTime(text))
    .action(async (email: string | undefined, { account, name, scope, expiresAt }: CreateOptions) => {
      if ((email === undefined) === (account === undefined))
        throw new CliError('Specify the account by email or by id.', 'usage');
      const request = {
        ...toAccount(email, account),
        name,
        scopes: scope,
        ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
      };
      showToken(await context.call(issueKey, request), 'Created');
    });

  keys
    .command('list [email]')
    .description('Lists the keys of an account, or of all accounts, newest first')
    .option('--limit <count>', 'keys per page, at most 1000', parseLimit, 100)
    .option('--offset <count>', 'number of keys to skip', parseOffset, 0)
    .option('--account <id>', 'id of the account, instead of its email', parseId)
    .action(async (email: string | undefined, { limit, offset, account }: ListOptions) => {
      if (email !== undefined && account !== undefined)
        throw new CliError('Specify the account by email or by id.', 'usage');
      const { items, count } = await context.call(listAllKeys, { limit, offset, ...toAccount(email, account) });
      const next = offset + items.length;
      context.print(
        items,
        table(items, keyColumns, 'No keys.'),
        ...(next < count ? [`More results: --offset ${next}`] : []),
      );
    });

  keys
    .command('show <id>')
    .description('Shows a key')
    .action(async (id: string) => {
      const { key } = await context.call(showAnyKey, { key_id: id }, `key ${id}`);
      context.print(key, describeKey(key));
    });

  keys
    .command('rotate <id>')
    .description('Creates a new token for a key and prints it, once; the old one is accepted until the overlap ends')
    .option(
      '--overlap-seconds <count>',
      `default one day, at most ${maxOverlapSeconds}; 0 revokes the old token at once`,
      parseOffset,
    )
    .action(async (id: string, { overlapSeconds }: { overlapSeconds?: number }) => {
      const request = { key_id: id, ...(overlapSeconds === undefined ? {} : { overlap_seconds: overlapSeconds }) };
      showToken(await context.call(rotateAnyKey, request, `key ${id}`), 'Rotated');
    });

  keys
    .command('revoke <id>')
    .description('Permanently revokes a key, effective at once')
    .option('--yes', 'skip the confirmation')
    .action(async (id: string, { yes }: { yes?: true }) => {
      if (yes !== true) await confirm(`This permanently revokes the key ${id}.`, id);
      const revoked = await context.call(revokeAnyKey, { key_id: id }, `key ${id}`);
      context.print(
        revoked,
        `Revoked: ${revoked.key.name}`,
        describeKey(revoked.key),
        ...describeEndpoints(revoked.webhook_endpoints),
      );
    });
}

const toAccount = (email: string | undefined, account: number | undefined) => ({
  ...(email === undefined ? {} : { email }),
  ...(account === undefined ? {} : { account_id: account }),
});

const keyColumns = {
  ID: ({ id }: Key) => id,
  NAME: ({ name }: Key) => name,
  ACCOUNT: ({ account }: Key) => account.email,
  STATE: stateOf,
  SCOPES: ({ scopes: held }: Key) => held.join(' '),
  'LAST USED': ({ last_used_at: at }: Key) => moment(at),
  EXPIRES: ({ expires_at: at }: Key) => moment(at),
};

function stateOf({ revoked_at: revokedAt, expires_at: expiresAt, rotating_until: rotatingUntil }: Key) {
  if (revokedAt !== null) return toned('revoked', 'dim');
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return toned('expired', 'dim');
  return rotatingUntil === null ? toned('active', 'good') : toned('rotating', 'good');
}

function describeEndpoints(endpoints: CreatedEndpoints): View[] {
  if (endpoints === null)
    return [
      'The webhook endpoints that the key created are unknown: the events service did not reply. Repeat the command to list them.',
    ];
  if (endpoints.length === 0) return [];
  return [
    'Webhook endpoints that the key created; to stop one: endpoints disable ID',
    table(endpoints, endpointColumns, ''),
  ];
}

const endpointColumns = {
  ENDPOINT: ({ id }: CreatedEndpoint) => id,
  HOST: ({ url_host: host }: CreatedEndpoint) => host,
  STATE: ({ disabled }: CreatedEndpoint) => (disabled ? toned('disabled', 'dim') : toned('enabled', 'good')),
  DESCRIPTION: ({ description }: CreatedEndpoint) => description,
};

function describeKey(key: Key): View {
  return fields({
    id: key.id,
    name: key.name,
    account: key.account.email,
    scopes: key.scopes.join(' '),
    state: stateOf(key),
    expires: key.expires_at === null ? 'never' : moment(key.expires_at),
    'old secret until': key.rotating_until === null ? 'ended' : moment(key.rotating_until),
  });
}
