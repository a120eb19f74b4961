/** Agent records. JSON stays text on its way, so that numbers keep every digit (rules/http#numbers-and-keys). */
import { type Queryable, statement } from '#libs/orm';

export interface Agent {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly prompt: string;
}

const findAgentStatement = statement('agents.find', `select id, slug, name, prompt from agents.agents where slug = $1`);
const renderAgentStatement = statement('agents.render', `select slug, name, prompt, infos from agents.agents where slug = $1`);
const findMessagingStatement = statement(
  'agents.find-messaging',
  `select id, slug, name, prompt, nullif(config #>> '{messaging,bot_token}', '') as bot_token,
     nullif(config #>> '{messaging,webhook_secret}', '') as webhook_secret, nullif(config #>> '{messaging,echo_channel}', '') as echo_channel
   from agents.agents where ($1::text is null or slug = $1) and ($2::integer is null or id = $2) and ($1 is not null or $2 is not null)`,
);

export async function findAgent(db: Queryable, slug: string): Promise<Agent | undefined> {
  if (slug.includes('\0')) return undefined;
  const [row] = await db.query<Agent>(findAgentStatement, [slug]);
  return row;
}

/** An agent with its settings for the messaging platform; empty ones count as absent. The token and the secret never leave the service. */
export interface MessagingAgent extends Agent {
  readonly bot_token: string | null;
  readonly webhook_secret: string | null;
  readonly echo_channel: string | null;
}

export async function findMessagingAgent(db: Queryable, by: { slug: string } | { id: number }): Promise<MessagingAgent | undefined> {
  if ('slug' in by && by.slug.includes('\0')) return undefined;
  const [row] = await db.query<MessagingAgent>(findMessagingStatement, 'slug' in by ? [by.slug, null] : [null, by.id]);
  return row;
}

/** AgentOut as JSON text. */
export async function renderAgent(db: Queryable, slug: string): Promise<string | undefined> {
  if (slug.includes('\0')) return undefined;
  const [row] = await db.query<Omit<Agent, 'id'> & { infos: string }>(renderAgentStatement, [slug]);
  if (row === undefined) return undefined;
  const { infos, ...rest } = row;
  return `${JSON.stringify(rest).slice(0, -1)},"infos":${infos}}`;
}
