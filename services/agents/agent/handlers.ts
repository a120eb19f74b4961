/** Agent records, for the API. */
import { notFound } from '#libs/errors';
import { type Handlers, rawJson } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { agents } from '../contract.ts';
import { renderAgent } from './find-agent.ts';

export function createAgentHandlers(db: Database): Pick<Handlers<typeof agents>, 'getAgent'> {
  return {
    getAgent: async ({ slug }) => {
      const json = await renderAgent(db, slug);
      if (json === undefined) throw notFound();
      return rawJson(json);
    },
  };
}
