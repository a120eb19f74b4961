/** Cost of operations for each component of a platform, as measured by `npm run bench:cost`. */

/** Components of a platform that do work. A component can have several processes. */
export const parts = [
  'gateway',
  'conversations',
  'directory',
  'media',
  'transcripts',
  'agents',
  'events',
  'postgresql',
  'nats',
  'store',
] as const;
export type Part = (typeof parts)[number];

/** Cost of one request in one component. */
export interface PartCost {
  /** Milliseconds of processor time. */
  readonly cpuMs: number;
  /** Bytes read and written, on connections and files. */
  readonly bytes: number;
  /** Bytes written to disks. */
  readonly diskBytes: number;
}

export interface OperationCost {
  readonly operation: string;
  readonly parts: Readonly<Record<Part, PartCost>>;
  /** Milliseconds for which the request uses a PostgreSQL connection. */
  readonly connectionMs: number;
  /** Disk syncs of PostgreSQL; a group commit counts as one. */
  readonly databaseSyncs: number;
  /** Number of durable messages. NATS writes each of them to disk before it confirms. */
  readonly messages: number;
}

export interface MeasuredCosts {
  /** Readable description of the machine. */
  readonly machine: string;
  /** Number of synced writes per second that the disk performs in sequence. */
  readonly syncsPerSecond: number;
  /** Memory in MB (PSS) of the processes under load. */
  readonly megabytes: Readonly<Record<Part, number>>;
  readonly operations: readonly OperationCost[];
}

const kilo = 1_000;

/** Returns the tables of docs/scaling.md as Markdown. */
export function renderCosts({ operations, megabytes }: MeasuredCosts): string {
  const services = parts.filter((part) => !['gateway', 'postgresql', 'nats', 'store'].includes(part));
  const groups: readonly (readonly [string, readonly Part[]])[] = [
    ['gateway', ['gateway']],
    ['services', services],
    ['PostgreSQL', ['postgresql']],
    ['NATS', ['nats']],
    ['store', ['store']],
  ];
  const sum = (cost: OperationCost, of: readonly Part[], field: keyof PartCost): number =>
    of.reduce((total, part) => total + cost.parts[part][field], 0);
  const rows = operations.map((cost) => [
    cost.operation,
    ...groups.map(([, of]) => sum(cost, of, 'cpuMs').toFixed(2)),
    cost.connectionMs.toFixed(1),
    cost.databaseSyncs.toFixed(2),
    cost.messages.toFixed(2),
    (sum(cost, parts, 'bytes') / kilo).toFixed(0),
  ]);
  const heads = [
    'request',
    ...groups.map(([name]) => `${name} ms`),
    'connection ms',
    'syncs of PostgreSQL',
    'durable messages',
    'KB moved',
  ];
  const memory = parts.map((part) => megabytes[part].toFixed(0));
  return `${toTable(heads, rows)}\n\n${toTable(parts, [memory])}`;
}

function toTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
