/** Agent records. JSON stays text on its way, so that numbers keep every digit (rules/http#numbers-and-keys). */
import { type RowOf, sql, statement, t } from '#libs/sql';

const columns = { id: t.integer, slug: t.text, name: t.text, prompt: t.text };
export type Agent = RowOf<typeof columns>;

export const findBySlug = statement.maybeOne({
  name: 'agents.find',
  params: { slug: t.text },
  row: columns,
  sql: ({ slug }) => sql`select id, slug, name, prompt from agents.agents where slug = ${slug}`,
});

/** Columns of AgentOut. */
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
/** An agent with its settings for the messaging platform; empty ones count as absent. The token and the secret never leave the service. */
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
