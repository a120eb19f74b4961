/** `audit list|verify|export` over the audit logs of all services (A1–A3; rules/audit). */
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { Option, type Command } from 'commander';
import { type ChainEnd, type ChainReport, verifyChain } from '#libs/infrastructure/audit';
import { AppError } from '#libs/infrastructure/errors';
import type { ListAuditReply } from '../../clients/typescript/operations.ts';
import { findAccountId } from '../account.ts';
import { withFormerName, withPages, withTimes } from '../common-options.ts';
import type { CliContext } from '../context.ts';
import { CliError } from '../failure.ts';
import { moment, toned } from '../output/cell.ts';
import { table } from '../output/table.ts';
import { verifyFile, writeLine } from './chain-file.ts';
import { describeNext, type Page, readPages } from '../pages.ts';
import { serviceNames } from '../services.ts';
import { type AuditLog, listLogs } from './services.ts';

type Entry = ListAuditReply['body']['items'][number];
type ServiceName = (typeof serviceNames)[number];

interface ListOptions {
  actor?: string;
  action?: string;
  target?: string;
  since?: string;
  until?: string;
  service?: ServiceName;
  limit: number;
  cursor?: string;
}

const linksOfPage = 1_000;

export function register(group: Command, context: CliContext): void {
  const service = (): Option => new Option('--service <name>', 'only the log of this service').choices(serviceNames);

  const list = withPages(group.command('list'), 'entries')
    .description('Lists entries, newest first')
    .option('--actor <email-or-id>', 'only entries of this account')
    .option('--action <action>', 'only entries with this action, e.g. login')
    .option('--target <type:id>', 'only entries about this target, e.g. account:7')
    .addOption(service());
  withTimes(list, 'only entries written');
  withFormerName(list, '--from <time>', '--since');
  withFormerName(list, '--to <time>', '--until').action(async (options: ListOptions) => {
    const page = await listEntries(context, options);
    context.print(page.items, table(page.items, columns, 'No entries.'), ...describeNext(page));
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
  TIME: ({ at }: Entry) => moment(at),
  ACTOR: ({ actor }: Entry) =>
    actor.email ??
    (actor.account_id === null ? (actor.kind === 'account' ? null : actor.kind) : `account ${actor.account_id}`),
  ACTION: ({ action }: Entry) => action,
  TARGET: ({ target }: Entry) => (target === null ? null : `${target.type}:${target.id}`),
  OUTCOME: ({ outcome }: Entry) => toned(outcome, outcome === 'ok' ? 'good' : 'bad'),
  FROM: ({ ip }: Entry) => ip,
  ENTRY: ({ id }: Entry) => id,
  CHANGES: ({ changes }: Entry) => (changes === null ? null : JSON.stringify(changes)),
};

/** @throws CliError when there are no entries, because no account has the email */
async function listEntries(
  context: CliContext,
  { limit, cursor, since, until, ...rest }: ListOptions,
): Promise<Page<Entry>> {
  const times = { ...(since && { from: since }), ...(until && { to: until }) };
  const filter = { ...rest, ...times };
  const page = await readPages(
    { limit, cursor },
    async (query) => (await context.http((api) => api.listAudit({ query: { ...filter, ...query } }))).body,
  );
  const { actor } = filter;
  if (page.items.length === 0 && actor?.includes('@') === true && (await isUnknown(context, actor)))
    throw new CliError(`No account has the email ${actor}.`);
  return page;
}

/** Returns false also for callers who cannot list accounts. */
async function isUnknown(context: CliContext, email: string): Promise<boolean> {
  try {
    await findAccountId(context, email);
    return false;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.reason === 'account_not_found') return true;
    if (error.code === 'permission_denied') return false;
    throw error;
  }
}

interface Head extends ChainEnd {
  readonly service: string;
}

function collectHead(text: string, known: Head[] = []): Head[] {
  const [, service = '', id = '', hash = ''] = /^([a-z-]+):([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (!serviceNames.some((name) => name === service))
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
