/** Statements on agents. JSON is passed as text, so that numbers retain every digit (rules/http#numbers-and-keys). */
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';

const columns = { id: t.integer, slug: t.text, name: t.text, prompt: t.text };
export type Agent = RowOf<typeof columns>;

export const findBySlug = statement.maybeOne({
  name: 'agents.find',
  params: { slug: t.text },
  row: columns,
  sql: ({ slug }) => sql`select id, slug, name, prompt from agents.agents where slug = ${slug} and deleted_at is null`,
});

/** Also finds a deleted agent when no other one has the slug: the last one. */
export const findBySlugOrDeleted = statement.maybeOne({
  name: 'agents.find-or-deleted',
  params: { slug: t.text },
  row: columns,
  sql: ({ slug }) => sql`select id, slug, name, prompt from agents.agents where slug = ${slug}
    order by deleted_at desc nulls first limit 1`,
});

/** Returns the columns of `AgentOut`. */
export const findPublicBySlug = statement.maybeOne({
  name: 'agents.render',
  params: { slug: t.text },
  row: { slug: t.text, name: t.text, prompt: t.text, infos: t.json },
  sql: ({ slug }) =>
    sql`select slug, name, prompt, infos from agents.agents where slug = ${slug} and deleted_at is null`,
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
  sql: ({ slug }) => sql`${messagingAgents} where slug = ${slug} and deleted_at is null`,
});

export const findMessagingById = statement.maybeOne({
  name: 'agents.find-messaging-by-id',
  params: { id: t.integer },
  row: messagingColumns,
  sql: ({ id }) => sql`${messagingAgents} where id = ${id} and deleted_at is null`,
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
  sql: ({ slugs }) =>
    sql`select id, slug, name, prompt, infos, config from agents.agents where slug = any(${slugs}) and deleted_at is null`,
});

/** Returns agents in the order of their ids. */
export const listAgentsAfter = statement.many({
  name: 'agents.export',
  params: { after: t.integer, limit: t.integer },
  row: storedColumns,
  sql: ({ after, limit }) =>
    sql`select id, slug, name, prompt, infos, config from agents.agents where id > ${after} and deleted_at is null order by id limit ${limit}`,
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

const editedColumns = { ...storedColumns, createdAt: t.text, updatedAt: t.text };
/** An agent with all stored settings and its times. */
export type EditedAgent = RowOf<typeof editedColumns>;
const edited = sql`id, slug, name, prompt, infos, config, agents.iso_utc(created_at) as "createdAt", agents.iso_utc(updated_at) as "updatedAt"`;

export const findEditedAgent = statement.maybeOne({
  name: 'agents.find-edited',
  params: { slug: t.text },
  row: editedColumns,
  sql: ({ slug }) => sql`select ${edited} from agents.agents where slug = ${slug} and deleted_at is null`,
});

/** Finds an agent by id or slug; an id wins. */
export const findAgentId = statement.maybeOne({
  name: 'agents.find-id',
  params: { id: t.integer, slug: t.text },
  row: { id: t.integer },
  sql: ({ id, slug }) => sql`select id from agents.agents where (id = ${id} or slug = ${slug}) and deleted_at is null
    order by id = ${id} desc limit 1`,
});

/** Returns agents by slug until their data exceeds `bytes`, at least one. */
export const listEditedAgents = statement.many({
  name: 'agents.list-edited',
  params: { q: t.text, after: t.text, limit: t.integer, bytes: t.bigint },
  row: editedColumns,
  sql: ({ q, after, limit, bytes }) => sql`with page as (
      select * from agents.agents
      where deleted_at is null and slug > ${after} and (position(lower(${q}) in lower(name)) > 0 or position(lower(${q}) in lower(slug)) > 0)
      order by slug limit ${limit}
    ), sized as (
      select *, sum(octet_length(prompt) + octet_length(infos::text) + octet_length(config::text)) over (order by slug)
        - octet_length(prompt) - octet_length(infos::text) - octet_length(config::text) as preceding_bytes
      from page
    )
    select ${edited} from sized where preceding_bytes = 0 or preceding_bytes < ${bytes} order by slug`,
});

/** Removes the settings with their secrets; threads still name the agent. */
export const markDeleted = statement.none({
  name: 'agents.mark-deleted',
  params: { id: t.integer },
  sql: ({ id }) =>
    sql`update agents.agents set deleted_at = clock_timestamp(), config = '{}', updated_at = clock_timestamp() where id = ${id}`,
});
