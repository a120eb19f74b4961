/** Agents as the workspace file writes them. JSON stays text on its way, so that numbers keep every digit (rules/http#numbers-and-keys). */
import { type Queryable, statement, type Tx } from '#libs/orm';
import type { Agent } from '../agent/index.ts';

/** Serialises applications of workspace files. */
const lockAgentsStatement = statement('agents.lock', `lock table agents.agents in share row exclusive mode`);
const listForUpdateStatement = statement(
  'agents.list-by-slug',
  `select id, slug, name, prompt, infos, config from agents.agents where slug = any($1::text[])`,
);
/** $1 after this id, $2 at most so many. */
const exportStatement = statement(
  'agents.export',
  `select id, slug, name, prompt, infos, config from agents.agents where id > $1 order by id limit $2`,
);
const equalStatement = statement('agents.compare', `select $1::jsonb = $2::jsonb as infos_equal, $3::jsonb = $4::jsonb as config_equal`);
const insertAgentStatement = statement(
  'agents.insert',
  `insert into agents.agents (slug, name, prompt, infos, config) values ($1, $2, $3, $4::jsonb, $5::jsonb) returning id`,
);
const updateAgentStatement = statement(
  'agents.update',
  `update agents.agents set name = $2, prompt = $3, infos = $4::jsonb, config = $5::jsonb, updated_at = clock_timestamp() where id = $1`,
);

/** An agent as stored; `infos` and `config` are JSON text. */
export interface StoredAgent extends Agent {
  readonly infos: string;
  readonly config: string;
}

/** Until the end of the transaction nobody else applies agents. */
export async function lockAgents(tx: Tx): Promise<void> {
  await tx.query(lockAgentsStatement);
}

export async function listAgents(tx: Queryable, slugs: readonly string[]): Promise<StoredAgent[]> {
  return await tx.query<StoredAgent>(listForUpdateStatement, [slugs]);
}

/** In the order of their ids. */
export async function listAgentsAfter(db: Queryable, after: number, limit: number): Promise<StoredAgent[]> {
  return await db.query<StoredAgent>(exportStatement, [after, limit]);
}

/** Compares JSON by value: order of keys and notation of numbers do not count. */
export async function compareJson(
  tx: Queryable,
  stored: Pick<StoredAgent, 'infos' | 'config'>,
  wanted: Pick<StoredAgent, 'infos' | 'config'>,
): Promise<{ infosEqual: boolean; configEqual: boolean }> {
  const rows = await tx.query<{ infos_equal: boolean; config_equal: boolean }>(equalStatement, [
    stored.infos,
    wanted.infos,
    stored.config,
    wanted.config,
  ]);
  return { infosEqual: rows[0]?.infos_equal === true, configEqual: rows[0]?.config_equal === true };
}

export async function insertAgent(tx: Tx, agent: Omit<StoredAgent, 'id'>): Promise<number> {
  const [row] = await tx.query<{ id: number }>(insertAgentStatement, [agent.slug, agent.name, agent.prompt, agent.infos, agent.config]);
  return (row as { id: number }).id;
}

export async function updateAgent(tx: Tx, agent: StoredAgent): Promise<void> {
  await tx.query(updateAgentStatement, [agent.id, agent.name, agent.prompt, agent.infos, agent.config]);
}
