/** Agents as the workspace file writes them. JSON stays text on its way, so that numbers keep every digit (rules/http#numbers-and-keys). */
import { type RowOf, sql, statement, t } from '#libs/sql';

const columns = { id: t.integer, slug: t.text, name: t.text, prompt: t.text, infos: t.json, config: t.json };
/** An agent as stored; `infos` and `config` are JSON text. */
export type StoredAgent = RowOf<typeof columns>;

/** Until the end of the transaction nobody else applies agents. */
export const lockAgents = statement.none({
  name: 'agents.lock',
  sql: () => sql`lock table agents.agents in share row exclusive mode`,
});

export const listAgents = statement.many({
  name: 'agents.list-by-slug',
  params: { slugs: t.text.array },
  row: columns,
  sql: ({ slugs }) => sql`select id, slug, name, prompt, infos, config from agents.agents where slug = any(${slugs})`,
});

/** In the order of their ids. */
export const listAgentsAfter = statement.many({
  name: 'agents.export',
  params: { after: t.integer, limit: t.integer },
  row: columns,
  sql: ({ after, limit }) =>
    sql`select id, slug, name, prompt, infos, config from agents.agents where id > ${after} order by id limit ${limit}`,
});

/** Compares JSON by value: order of keys and notation of numbers do not count. */
export const compareJson = statement.one({
  name: 'agents.compare',
  params: { infos: t.json, wantedInfos: t.json, config: t.json, wantedConfig: t.json },
  row: { infosEqual: t.boolean, configEqual: t.boolean },
  sql: ({ infos, wantedInfos, config, wantedConfig }) =>
    sql`select ${infos} = ${wantedInfos} as "infosEqual", ${config} = ${wantedConfig} as "configEqual"`,
});

export const insertAgent = statement.one({
  name: 'agents.insert',
  params: { slug: t.text, name: t.text, prompt: t.text, infos: t.json, config: t.json },
  row: { id: t.integer },
  sql: ({ slug, name, prompt, infos, config }) =>
    sql`insert into agents.agents (slug, name, prompt, infos, config) values (${slug}, ${name}, ${prompt}, ${infos}, ${config}) returning id`,
});

export const updateAgent = statement.none({
  name: 'agents.update',
  params: { id: t.integer, name: t.text, prompt: t.text, infos: t.json, config: t.json },
  sql: ({ id, name, prompt, infos, config }) =>
    sql`update agents.agents set name = ${name}, prompt = ${prompt}, infos = ${infos}, config = ${config}, updated_at = clock_timestamp()
      where id = ${id}`,
});
