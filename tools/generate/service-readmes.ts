/**
 * The tables in the READMEs of services that say what their contracts, settings and routes say: between `<!-- <name>: … -->` and
 * `<!-- end of <name> -->`. What stands around them is written by hand.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event, Job, Rpc, ServiceContract } from '#libs/contract';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { contracts } from '../servers/service-contracts.ts';
import { readServiceSettings } from '../servers/service-settings.ts';

const servicesDir = join(import.meta.dirname, '..', '..', 'services');
const gateway = 'api-gateway';
const note = 'written by npm run fix from the code; change that';

/** Generators of the READMEs, by their paths. */
export async function listServiceReadmes(): Promise<Record<string, () => Promise<string>>> {
  const services = (await readServiceSettings()).map(({ service }) => service);
  return Object.fromEntries(services.map((service) => [`services/${service}/README.md`, () => describeService(service)]));
}

/** The README with its tables as they should be. @throws Error when it lacks one, or has one that nobody knows. */
async function describeService(service: string): Promise<string> {
  const settings = (await readServiceSettings()).find((item) => item.service === service);
  const contract = contracts.find((item) => item.service === service);
  const tables = new Map([
    ...(contract === undefined ? listGatewayTables() : listTables(contract)),
    ['settings', tableOfSettings(settings)],
  ]);
  const text = readFileSync(join(servicesDir, service, 'README.md'), 'utf8');
  const found: string[] = [];
  const renewed = text.replaceAll(/<!-- (\w+):.* -->\n[^]*?<!-- end of \1 -->/g, (_, name: string) => {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`services/${service}/README.md: there is no table "${name}"`);
    found.push(name);
    return `<!-- ${name}: ${note} -->\n\n${table}\n\n<!-- end of ${name} -->`;
  });
  const missing = [...tables.keys()].filter((name) => !found.includes(name));
  if (missing.length > 0)
    throw new Error(`services/${service}/README.md lacks the tables ${missing.join(', ')} (<!-- name: --> … <!-- end of name -->)`);
  return renewed;
}

type Table = [name: string, text: string];

/** Only kinds that the service has. */
function listTables(contract: ServiceContract): Table[] {
  const tables: [string, readonly string[], readonly (readonly string[])[]][] = [
    ['operations', ['operation', 'what it does', 'callers'], listOperations(contract)],
    ['jobs', ['job', 'what it does', 'started by', 'attempts'], Object.values(contract.jobs).map((job) => describeJob(contract, job))],
    ['events', ['event', 'what happened', 'subscribers'], Object.values(contract.events).map(describeEvent)],
    ['subscriptions', ['subject', 'stream', 'received by'], listSubscriptions(contract.service, contract)],
  ];
  return tables.flatMap(([name, head, rows]): Table[] => (rows.length === 0 ? [] : [[name, toTable(head, rows)]]));
}

function listGatewayTables(): Table[] {
  const rows = routes.map(({ method, path, summary, auth, rpc, handler }) => [
    `\`${method} ${path}\``,
    summary,
    auth,
    rpc === undefined ? `handler \`${handler}\`` : `\`${rpc.subject}\``,
  ]);
  return [
    ['routes', toTable(['route', 'what it does', 'credential', 'served by'], rows)],
    ['subscriptions', toTable(['subject', 'stream', 'received by'], listSubscriptions(gateway, undefined))],
  ];
}

/** By subject, those of the admin CLI last. */
function listOperations({ rpcs }: ServiceContract): string[][] {
  const rank = ({ subject }: Rpc): string => (subject.startsWith('admin.') ? `\u{10ffff}${subject}` : subject);
  return Object.values(rpcs)
    .toSorted((left, right) => (rank(left) < rank(right) ? -1 : 1))
    .map((rpc) => [`\`${rpc.subject}\``, rpc.summary, describeCallers(rpc)]);
}

/** The routes for the gateway, where it has some; other callers by their names. */
function describeCallers(rpc: Rpc): string {
  const asked = routes.filter((route) => route.rpc === rpc).map(({ method, path }) => `\`${method} ${path}\``);
  const names = Object.keys(rpc.callers).filter((name) => name !== gateway || asked.length === 0);
  return [...asked, ...names].join(', ');
}

function describeJob({ service }: ServiceContract, { type, summary, startedBy, policy }: Job): string[] {
  const { maxAttempts, expiresAfterMs } = policy;
  const bounds = [
    ...(Number.isFinite(maxAttempts) ? [String(maxAttempts)] : []),
    ...(expiresAfterMs === undefined ? [] : [`until it is ${describeTime(expiresAfterMs)} old`]),
  ];
  return [`\`${type}\``, summary, [service, ...startedBy].join(', '), bounds.join(', ') || 'until it is done'];
}

function describeTime(ms: number): string {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
  ] as const;
  const [unit, size] = units.find(([, length]) => ms >= length && ms % length === 0) ?? ['second', 1_000];
  return `${ms / size} ${unit}${ms === size ? '' : 's'}`;
}

function describeEvent(event: Event): string[] {
  const readers = contracts.filter(({ consumers = {} }) => Object.values(consumers).some(({ filter }) => filter === event.subject));
  const names = new Set([...event.subscribers, ...readers.map(({ service }) => service)]);
  return [`\`${event.subject}\``, event.summary, [...names].join(', ')];
}

/** What one replica takes off a stream, and what every replica receives as it is published. */
function listSubscriptions(service: string, contract: ServiceContract | undefined): string[][] {
  const subscribed = contracts.flatMap(({ events }) => Object.values(events).filter(({ subscribers }) => subscribers.includes(service)));
  return [
    ...Object.values(contract?.consumers ?? {}).map(({ stream, durable, filter }) => [
      `\`${filter}\``,
      stream,
      `one replica, as \`${durable}\``,
    ]),
    ...subscribed.map(({ subject }) => [`\`${subject}\``, 'none', 'every replica']),
  ];
}

function tableOfSettings(settings: Awaited<ReturnType<typeof readServiceSettings>>[number] | undefined): string {
  const { properties = {}, required = [] } = settings ?? {};
  const rows = Object.entries(properties).map(([name, { description = '', default: fallback, writeOnly }]) => [
    `\`${name}\``,
    description + (writeOnly === true ? ' (secret)' : ''),
    fallback === undefined
      ? required.includes(name)
        ? 'required'
        : 'unset'
      : fallback === ''
        ? 'empty'
        : `\`${JSON.stringify(fallback)}\``,
  ]);
  return toTable(['name', 'meaning', 'default'], rows);
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}
