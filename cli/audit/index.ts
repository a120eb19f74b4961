/** `audit list|verify|export` over the audit logs of all services (A1–A3; rules/audit). */
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { Option, type Command } from 'commander';
import {
  cursorFor,
  type ChainEnd,
  type ChainReport,
  mergeEntries,
  readCursor,
  type ServiceEntry,
  verifyChain,
  writeCursor,
} from '#libs/audit';
import type { PublicAuditEntry } from '#libs/contract';
import { directory } from '#services/directory';
import type { CliContext } from '../context.ts';
import { CliError } from '../failure.ts';
import { moment, toned } from '../output/cell.ts';
import { table } from '../output/table.ts';
import { parseLimit, parseTime } from '../parse-options.ts';
import { verifyFile, writeLine } from './chain-file.ts';
import { type AuditLog, auditServices, listLogs } from './services.ts';

interface ListOptions {
  actor?: string;
  action?: string;
  target?: string;
  from?: string;
  to?: string;
  service?: string;
  limit: number;
  cursor?: string;
}

const linksOfPage = 1_000;

export function register(group: Command, context: CliContext): void {
  const service = (): Option =>
    new Option('--service <name>', 'only the log of this service').choices([...auditServices]);

  group
    .command('list')
    .description('Lists entries, newest first')
    .option('--actor <email-or-id>', 'only entries of this account')
    .option('--action <action>', 'only entries with this action, e.g. login')
    .option('--target <type:id>', 'only entries about this target, e.g. account:7')
    .option('--from <time>', 'only entries from this time or later: a date, an instant, or an age (7d)', (text) =>
      parseTime(text),
    )
    .option('--to <time>', 'only entries from before this time', (text) => parseTime(text))
    .addOption(service())
    .option('--limit <count>', 'entries per page, at most 1000', parseLimit, 100)
    .option('--cursor <cursor>', 'next page, as printed by the previous page')
    .action(async (options: ListOptions) => {
      const { items, next } = await list(context, options);
      context.print(
        items,
        table(items, columns, 'No entries.'),
        ...(next === undefined ? [] : [`More results: --cursor ${next}`]),
      );
    });

  group
    .command('verify')
    .description('Verifies the chains and prints the first broken entry')
    .argument('[file]', 'output of `audit export`, verified offline')
    .addOption(service())
    .option(
      '--head <service:id:hash>',
      'require this hash, recorded earlier, for this entry; can be repeated',
      collectHead,
    )
    .action(async (file: string | undefined, options: { service?: string; head?: Head[] }) => {
      const heads = options.head ?? [];
      if (file !== undefined && heads.length > 0) throw new CliError('--head cannot be used with a file.', 'usage');
      const reports =
        file === undefined ? await verifyLogs(context, listLogs(options.service), heads) : await verifyFile(file);
      const items = [...reports].map(([name, report]) => describeReport(name, report));
      context.print(items, table(items, reportColumns, 'No entries.'));
      const broken = items.filter((item) => item.broken !== null);
      if (broken.length === 0) return;
      const descriptions = broken.map((item) => `${item.service}: entry ${item.broken?.id} ${item.broken?.problem}.`);
      throw new CliError(`The audit log is broken. ${descriptions.join(' ')}`);
    });

  group
    .command('export')
    .description('Writes all entries with their hashes as JSON lines, oldest first')
    .addOption(service())
    .option('--out <file>', 'output file, must not exist (default: standard output)')
    .action(async ({ service: only, out }: { service?: string; out?: string }) => {
      const stream = out === undefined ? process.stdout : await openNew(out);
      const broken: string[] = [];
      let count = 0;
      for (const log of listLogs(only)) {
        const lines: string[] = [];
        const report = await verifyChain(
          async (after) => {
            await write(stream, lines.splice(0).join(''));
            return readPage(context, log, after);
          },
          (link) => void lines.push(writeLine(log.service, link)),
          { readAll: true },
        );
        await write(stream, lines.join(''));
        count += report.checked;
        if (report.broken !== undefined)
          broken.push(`${log.service}: entry ${report.broken.id} ${report.broken.problem}.`);
      }
      if (out !== undefined) {
        (stream as WriteStream).end();
        await once(stream, 'close');
        context.print({ entries: count, file: out }, `Wrote ${count} entries to ${out}.`);
      }
      if (broken.length > 0) throw new CliError(`The audit log is broken. ${broken.join(' ')}`);
    });
}

const columns = {
  TIME: ({ at }: PublicAuditEntry) => moment(at),
  ACTOR: ({ actor }: PublicAuditEntry) =>
    actor.email ??
    (actor.account_id === null ? (actor.kind === 'account' ? null : actor.kind) : `account ${actor.account_id}`),
  ACTION: ({ action }: PublicAuditEntry) => action,
  TARGET: ({ target }: PublicAuditEntry) => (target === null ? null : `${target.type}:${target.id}`),
  OUTCOME: ({ outcome }: PublicAuditEntry) => toned(outcome, outcome === 'ok' ? 'good' : 'bad'),
  FROM: ({ ip }: PublicAuditEntry) => ip,
  ENTRY: ({ id }: PublicAuditEntry) => id,
  CHANGES: ({ changes }: PublicAuditEntry) => (changes === null ? null : JSON.stringify(changes)),
};

async function list(
  context: CliContext,
  options: ListOptions,
): Promise<{ items: PublicAuditEntry[]; next: string | undefined }> {
  const { actor, action, target, from, to, limit, cursor } = options;
  const position = cursor === undefined ? undefined : readCursor(cursor, auditServices);
  if (cursor !== undefined && position === undefined)
    throw new CliError('The cursor does not belong to this list.', 'usage');
  const account = actor === undefined ? undefined : await findAccount(context, actor);
  const [type = '', ...rest] = target?.split(':') ?? [];
  const filter = {
    limit: limit + 1,
    ...(account === undefined ? {} : { account_id: account }),
    ...(action === undefined ? {} : { action }),
    ...(target === undefined ? {} : { target_type: type, target_id: rest.join(':') }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
  const pages = await Promise.all(
    listLogs(options.service).map(async ({ service, rpcs }) => {
      const before = position === undefined ? {} : { before: cursorFor(service, position) };
      const { items } = await context.call(rpcs.searchAudit, { ...filter, ...before });
      return items.map((item): ServiceEntry => ({ ...item, service }));
    }),
  );
  const { items, next } = mergeEntries(pages, limit);
  const ids = [...new Set(items.flatMap((item) => item.actor.account_id ?? []))];
  const named = ids.length === 0 ? [] : (await context.call(directory.rpcs.identifyAccounts, { ids })).items;
  const emails = new Map(named.map(({ id, email }) => [id, email]));
  const entries = items.map(({ service, id, actor: by, ...entry }) => {
    const email = (by.account_id === null ? undefined : emails.get(by.account_id)) ?? null;
    return { ...entry, id: `${service}:${id}`, actor: { ...by, email } };
  });
  return { items: entries, next: next === undefined ? undefined : writeCursor(next) };
}

/** @throws CliError when no account has the email */
async function findAccount(context: CliContext, actor: string): Promise<number> {
  if (/^[1-9][0-9]{0,8}$/.test(actor)) return Number(actor);
  const { items } = await context.call(directory.rpcs.identifyAccounts, { ids: [], email: actor });
  const [account] = items;
  if (account === undefined) throw new CliError(`There is no account with the email ${actor}.`);
  return account.id;
}

interface Head extends ChainEnd {
  readonly service: string;
}

function collectHead(text: string, known: Head[] = []): Head[] {
  const [, service = '', id = '', hash = ''] = /^([a-z-]+):([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (!auditServices.includes(service))
    throw new CliError(`"${text}" is not a head; the format is service:id:hash.`, 'usage');
  return [...known, { service, id: Number(id), hash }];
}

function readPage(context: CliContext, { rpcs }: AuditLog, after: number) {
  return context.call(rpcs.readAudit, { after, limit: linksOfPage });
}

async function verifyLogs(
  context: CliContext,
  logs: readonly AuditLog[],
  heads: readonly Head[],
): Promise<Map<string, ChainReport>> {
  const reports = new Map<string, ChainReport>();
  for (const log of logs) {
    const expectedHashes = new Map(
      heads.filter(({ service }) => service === log.service).map(({ id, hash }) => [id, hash]),
    );
    let changed: number | undefined;
    const report = await verifyChain(
      (after) => readPage(context, log, after),
      ({ id, hash }) => {
        const expected = expectedHashes.get(id);
        if (expected !== undefined && expected !== hash) changed ??= id;
        expectedHashes.delete(id);
      },
    );
    const missing = [...expectedHashes.keys()]
      .toSorted((left, right) => left - right)
      .find((id) => id > report.anchor.id);
    const noted =
      changed === undefined
        ? missing === undefined
          ? undefined
          : { id: missing, problem: 'is missing, although its hash was recorded' }
        : { id: changed, problem: 'does not have the recorded hash: the chain was rewritten' };
    reports.set(log.service, { ...report, broken: report.broken ?? noted });
  }
  return reports;
}

interface Described {
  readonly service: string;
  readonly entries: number;
  readonly broken: { readonly id: number; readonly problem: string } | null;
  readonly head: ChainEnd;
}

function describeReport(service: string, { checked, head, broken }: ChainReport): Described {
  return { service, entries: checked, broken: broken ?? null, head };
}

const reportColumns = {
  SERVICE: ({ service }: Described) => service,
  STATE: ({ broken }: Described) =>
    broken === null ? toned('intact', 'good') : toned(`broken at ${broken.id}`, 'bad'),
  ENTRIES: ({ entries }: Described) => entries,
  HEAD: ({ service, head }: Described) => `${service}:${head.id}:${head.hash}`,
};

async function openNew(file: string): Promise<WriteStream> {
  const stream = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  try {
    await once(stream, 'open');
  } catch (error) {
    throw new CliError(
      (error as NodeJS.ErrnoException).code === 'EEXIST'
        ? `${file} exists already.`
        : `${file} cannot be written: ${(error as Error).message}`,
    );
  }
  return stream;
}

async function write(stream: NodeJS.WritableStream, text: string): Promise<void> {
  if (text !== '' && !stream.write(text)) await once(stream, 'drain');
}
