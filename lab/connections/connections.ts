/** How many connections an installation keeps at PostgreSQL, by the sizes of its pools (docs/scaling.md). */

export interface Pools {
  /** Components that have a database, each with a role of its own. */
  readonly components: readonly string[];
  /** DATABASE_POOL_SIZE */
  readonly ofProcess: number;
  /** Connections that the pooler keeps for each role (`default_pool_size`); absent = there is none. */
  readonly ofRole?: number;
}

export interface Connections {
  /** At PostgreSQL, at most. */
  readonly server: number;
  /** At the pooler, at most; 0 without one. */
  readonly client: number;
}

/** What keeps a session of its own: the set-up (its lock and its work), the audit job and a backup. */
export const sessions = 4;
/** A rolling update starts so many pods of each component before it ends old ones (`maxSurge` of the chart). */
const surge = 1;

/** With so many pods of each component. */
export function countConnections(pods: number, { components, ofProcess, ofRole }: Pools): Connections {
  const wanted = pods * ofProcess;
  const together = components.length * wanted;
  if (ofRole === undefined) return { server: together + sessions, client: 0 };
  return { server: components.length * Math.min(wanted, ofRole) + sessions, client: together };
}

/** The same while every component is replaced at once. */
export const countWhileRolling = (pods: number, pools: Pools): Connections => countConnections(pods + surge, pools);

/** A row for each number of pods, in Markdown. */
export function renderConnections(pods: readonly number[], pools: Pools & { readonly ofRole: number }): string {
  const { ofRole, ...direct } = pools;
  const rows = pods.map((count) => {
    const pooled = countWhileRolling(count, pools);
    return [count, countConnections(count, direct).server, countWhileRolling(count, direct).server, pooled.server, pooled.client];
  });
  const heads = [
    'pods of each service',
    'straight',
    'straight, in a rolling update',
    `PgBouncer (${ofRole} a role)`,
    'clients of PgBouncer',
  ];
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
