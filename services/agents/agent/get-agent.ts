import { appError } from '#libs/errors';
import type { Queryable } from '#libs/orm';
import { type Agent, findAgent } from './statements.ts';

/** For operators. @throws AppError agent_not_found */
export async function getAgent(db: Queryable, slug: string): Promise<Agent> {
  const agent = await findAgent(db, slug);
  if (agent === undefined) throw appError('not_found', 'agent_not_found', `No agent has the slug "${slug}"`);
  return agent;
}
