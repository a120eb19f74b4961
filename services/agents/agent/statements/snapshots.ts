/** History of agents (W10). */
import { createHistory, type History } from '#libs/product/history';
import { sql, statement, t } from '#libs/infrastructure/sql';

export type AgentHistory = History<'agents'>;

export const snapshotAgents = statement.many({
  name: 'history.snapshot-agents',
  params: { ids: t.integer.array },
  row: { id: t.integer, key: t.text.nullable, value: t.text },
  sql: ({ ids }) => sql`
    select id, slug as key, json_build_object('slug', slug, 'name', name, 'prompt', prompt, 'infos', infos, 'config', config)::text as value
    from agents.agents where id = any(${ids}) and deleted_at is null order by id`,
});

/** Creates the recorder of changes; one per process. */
export const createAgentHistory = (): AgentHistory => createHistory<'agents'>({ agents: snapshotAgents });
