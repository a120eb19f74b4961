/** Statements on agents. JSON is passed as text, so that numbers retain every digit (rules/http#numbers-and-keys). */
import { type RowOf, sql, statement, t } from '#libs/sql';

const columns = { id: t.integer, slug: t.text, name: t.text, prompt: t.text };
export type Agent = RowOf<typeof columns>;

export const findBySlug = statement.maybeOne({
  name: 'agents.find',
  params: { slug: t.text },
  row: columns,
  sql: ({ slug }) => sql`select id, slug, name, prompt from agents.agents where slug = ${slug}`,
});

/** Returns the columns of `AgentOut`. */
export const findPublicBySlug = statement.maybeOne({
  name: 'agents.render',
  params: { slug: t.text },
  row: { slug: t.text, name: t.text, prompt: t.text, infos: t.json },
  sql: ({ slug }) => sql`select slug, name, prompt, infos from agents.agents where slug = ${slug}`,
});

const messagingColumns = {
  ...columns,
  bot_token: t.text.nullable,
  webhook_secret: t.text.nullable,
  echo_channel: t.text.nullable,
};
/** An agent with its messaging settings; empty settings are null. The token and the secret never leave the service. */
export type MessagingAgent = RowOf<typeof messagingColumns>;

const messagingAgents = sql`select id, slug, name, prompt, nullif(config #>> '{messaging,bot_token}', '') as bot_token,
  nullif(config #>> '{messaging,webhook_secret}', '') as webhook_secret, nullif(config #>> '{messaging,echo_channel}', '') as echo_channel
  from agents.agents`;

export const findMessagingBySlug = statement.maybeOne({
  name: 'agents.find-messaging-by-slug',
  params: { slug: t.text },
  row: messagingColumns,
  sql: ({ slug }) => sql`${messagingAgents} where slug = ${slug}`,
});

export const findMessagingById = statement.maybeOne({
  name: 'agents.find-messaging-by-id',
  params: { id: t.integer },
  row: messagingColumns,
  sql: ({ id }) => sql`${messagingAgents} where id = ${id}`,
});

const storedColumns = { id: t.integer, slug: t.text, name: t.text, prompt: t.text, infos: t.json, config: t.json };
/** An agent with all stored settings. `infos` and `config` are JSON text. */
export type StoredAgent = RowOf<typeof storedColumns>;

/** Prevents concurrent changes of agents until the end of the transaction. */
export const lockAgents = statement.none({
  name: 'agents.lock',
  sql: () => sql`lock table agents.agents in share row exclusive mode`,
});

export const listAgents = statement.many({
  name: 'agents.list-by-slug',
  params: { slugs: t.text.array },
  row: storedColumns,
  sql: ({ slugs }) => sql`select id, slug, name, prompt, infos, config from agents.agents where slug = any(${slugs})`,
});

/** Returns agents in the order of their ids. */
export const listAgentsAfter = statement.many({
  name: 'agents.export',
  params: { after: t.integer, limit: t.integer },
  row: storedColumns,
  sql: ({ after, limit }) =>
    sql`select id, slug, name, prompt, infos, config from agents.agents where id > ${after} order by id limit ${limit}`,
});

/** Compares JSON by value, ignoring key order and number notation. */
export const compareJson = statement.one({
  name: 'agents.compare',
  params: { infos: t.json, newInfos: t.json, config: t.json, newConfig: t.json },
  row: { infosEqual: t.boolean, configEqual: t.boolean },
  sql: ({ infos, newInfos, config, newConfig }) =>
    sql`select ${infos} = ${newInfos} as "infosEqual", ${config} = ${newConfig} as "configEqual"`,
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
