/**
 * Generates `docs/jobs-and-events.md`: jobs, events and subscriptions of all services, from the services' contracts.
 */
import type { Event, Job, ServiceContract } from '#libs/infrastructure/contract';
import { contracts } from '../../libs/product/servers/service-contracts.ts';

const introduction = `# Jobs and events

Generated from the contracts of the services by \`npm run fix\`. How jobs and events work: [architecture](architecture.md#jobs). Events of the public feed are a
different list: [event types](rules/events.md#types).`;

export function describeJobsAndEvents(): string {
  const jobs = contracts.flatMap((contract) => Object.values(contract.jobs).map((job) => describeJob(contract, job)));
  const events = contracts.flatMap((contract) => Object.values(contract.events).map(describeEvent));
  const sections = [
    introduction,
    '## Jobs',
    toTable(['job', 'what it does', 'started by', 'attempts'], jobs),
    '## Events between services',
    toTable(['event', 'what happened', 'subscribers'], events),
    '## Stream consumers',
    'One replica of the service receives each message.',
    toTable(['subject', 'stream', 'consumer'], contracts.flatMap(listConsumers)),
  ];
  return `${sections.join('\n\n')}\n`;
}

function describeJob({ service }: ServiceContract, { type, summary, startedBy, policy }: Job): string[] {
  const { maxAttempts, expiresAfterMs } = policy;
  const bounds = [
    ...(Number.isFinite(maxAttempts) ? [String(maxAttempts)] : []),
    ...(expiresAfterMs === undefined ? [] : [`until ${describeTime(expiresAfterMs)} old`]),
  ];
  const starters = [...new Set([service, ...startedBy])];
  return [`\`${type}\``, summary, starters.join(', '), bounds.join(', ') || 'no limit'];
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
  const readers = contracts.filter(({ consumers = {} }) =>
    Object.values(consumers).some(({ filter }) => filter === event.subject),
  );
  const names = new Set([...event.subscribers, ...readers.map(({ service }) => service)]);
  return [`\`${event.subject}\``, event.summary, [...names].join(', ')];
}

function listConsumers({ consumers = {} }: ServiceContract): string[][] {
  return Object.values(consumers).map(({ stream, durable, filter }) => [`\`${filter}\``, stream, `\`${durable}\``]);
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}
