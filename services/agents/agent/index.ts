/** Finds agents by slug or id, for other features. A slug with U+0000, which PostgreSQL rejects, is not found. */
import { appError } from '#libs/infrastructure/errors';
import type { Queryable } from '#libs/infrastructure/sql';
import {
  type Agent,
  findBySlug,
  findBySlugOrDeleted,
  findMessagingById,
  findMessagingBySlug,
  findPublicBySlug,
  type MessagingAgent,
} from './statements/agents.ts';
export type { Agent, MessagingAgent } from './statements/agents.ts';

export async function findAgent(db: Queryable, slug: string): Promise<Agent | undefined> {
  return slug.includes('\0') ? undefined : await findBySlug(db, { slug });
}

/** Finds the agent of threads: also a deleted one, whose threads operators can read (W6). */
export async function findAgentOfThreads(db: Queryable, slug: string): Promise<Agent | undefined> {
  return slug.includes('\0') ? undefined : await findBySlugOrDeleted(db, { slug });
}

/** Returns the agent of threads, as `findAgentOfThreads`. @throws AppError agent_not_found */
export async function getAgent(db: Queryable, slug: string): Promise<Agent> {
  const agent = await findAgentOfThreads(db, slug);
  if (agent === undefined) throw appError('not_found', 'agent_not_found', `No agent has the slug "${slug}"`);
  return agent;
}

export async function findMessagingAgent(
  db: Queryable,
  by: { slug: string } | { id: number },
): Promise<MessagingAgent | undefined> {
  if ('id' in by) return await findMessagingById(db, by);
  return by.slug.includes('\0') ? undefined : await findMessagingBySlug(db, by);
}

/** Returns an agent as JSON text of `AgentOut`, or undefined when no agent has the slug. */
export async function renderAgent(db: Queryable, slug: string): Promise<string | undefined> {
  const agent = slug.includes('\0') ? undefined : await findPublicBySlug(db, { slug });
  if (agent === undefined) return undefined;
  const { infos, ...rest } = agent;
  return `${JSON.stringify(rest).slice(0, -1)},"infos":${infos}}`;
}

export { type AgentHistory, createAgentHistory } from './statements/snapshots.ts';
