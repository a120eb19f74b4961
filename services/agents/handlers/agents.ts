/** Agent records, for the API. */
import { appError, notFound } from '#libs/errors';
import { type Handlers, rawJson } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { agents } from '../contract.ts';
import { type Agent, findAgent, renderAgent } from '../repositories/agents.ts';

/** For operators. @throws AppError agent_not_found */
export async function getAgent(db: Database, slug: string): Promise<Agent> {
  const agent = await findAgent(db, slug);
  if (agent === undefined) throw appError('not_found', 'agent_not_found', `No agent has the slug "${slug}"`);
  return agent;
}

export function createAgentHandlers(db: Database): Pick<Handlers<typeof agents>, 'getAgent'> {
  return {
    getAgent: async ({ slug }) => {
      const json = await renderAgent(db, slug);
      if (json === undefined) throw notFound();
      return rawJson(json);
    },
  };
}
