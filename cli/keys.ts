/** `keys create [EMAIL]`, `keys list [EMAIL]`, `keys show|rotate|revoke ID` (rules/cli#admin-cli; K9). */
import type { Command } from 'commander';
import { scopes } from '#libs/infrastructure/contract';
import { maxOverlapSeconds } from '#services/directory';
import type { CreateKeyReply, RevokeKeyReply } from '../clients/typescript/operations.ts';
import { findAccountId } from './account.ts';
import { type OffsetPage, withConfirmation, withOffsetPages } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { moment, toned } from './output/cell.ts';
import { fields, table, type View } from './output/table.ts';
import { CliError } from './failure.ts';
import { describeNext, readPages } from './pages.ts';
import { parseId, parseOffset, parseTime } from './parse-options.ts';

type Key = CreateKeyReply['body']['key'];
type CreatedEndpoints = RevokeKeyReply['body']['webhook_endpoints'];
type CreatedEndpoint = NonNullable<CreatedEndpoints>[number];
type Issued = CreateKeyReply['body'];

interface CreateOptions {
  account?: number;
  name: string;
  scope: string[];
  expiresAt?: string;
}

interface ListOptions extends OffsetPage {
  readonly account?: number;
}

/** Maximum size of a page of keys. */
const maxPage = 100;

export function register(keys: Command, context: CliContext): void {
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
      const body = {
        ...(await toAccount(context, email, account)),
        name,
        scopes: scope,
        ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
      };
      showToken((await context.http((api) => api.createKey({ body }))).body, 'Created');
    });

  withOffsetPages(keys.command('list [email]'), 'keys')
    .description('Lists the keys of an account, or of all accounts, newest first')
    .option('--account <id>', 'id of the account, instead of its email', parseId)
    .action(async (email: string | undefined, { limit, cursor, account }: ListOptions) => {
      if (email !== undefined && account !== undefined)
        throw new CliError('Specify the account by email or by id.', 'usage');
      const filter = await toAccount(context, email, account);
      const page = await readPages({ limit, cursor: String(cursor) }, async (query) => {
        const start = Number(query.cursor);
        const call = { query: { ...filter, limit: Math.min(query.limit, maxPage), offset: start } };
        const { items, count } = (await context.http((api) => api.listKeys(call))).body;
        const end = start + items.length;
        return { items, next: items.length > 0 && end < count ? String(end) : null };
      });
      context.print(page.items, table(page.items, keyColumns, 'No keys.'), ...describeNext(page));
    });

  keys
    .command('show <id>')
    .description('Shows a key')
    .action(async (id: string) => {
      const { key } = (await context.http((api) => api.getKey({ path: { key_id: id } }), `key ${id}`)).body;
      context.print(key, describeKey(key));
    });

  keys
    .command('rotate <id>')
    .description('Creates a new token for a key and prints it, once; the old one is accepted until the overlap ends')
    .option(
      '--overlap-seconds <seconds>',
      `default one day, at most ${maxOverlapSeconds}; 0 revokes the old token at once`,
      parseOffset,
    )
    .action(async (id: string, { overlapSeconds }: { overlapSeconds?: number }) => {
      const body = overlapSeconds === undefined ? {} : { overlap_seconds: overlapSeconds };
      const call = { path: { key_id: id }, body };
      showToken((await context.http((api) => api.rotateKey(call), `key ${id}`)).body, 'Rotated');
    });

  withConfirmation(keys.command('revoke <id>'))
    .description('Permanently revokes a key, effective at once')
    .action(async (id: string, { yes }: { yes?: true }) => {
      if (yes !== true) await confirm(`This permanently revokes the key ${id}.`, id);
      const revoked = (await context.http((api) => api.revokeKey({ path: { key_id: id } }), `key ${id}`)).body;
      context.print(
        revoked,
        `Revoked: ${revoked.key.name}`,
        describeKey(revoked.key),
        ...describeEndpoints(revoked.webhook_endpoints),
      );
    });
}

/** Returns the filter for an account; empty without one. */
async function toAccount(context: CliContext, email: string | undefined, account: number | undefined) {
  const id = email === undefined ? account : await findAccountId(context, email);
  return id === undefined ? {} : { account_id: id };
}

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
