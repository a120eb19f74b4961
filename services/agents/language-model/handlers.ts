/** Returns the usage of the language model to operators. */
import { requireOpsReader } from '#libs/infrastructure/actor';
import { type Handlers, rawJson } from '#libs/infrastructure/nats';
import type { agents } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import type { languageModelRpcs } from './contract.ts';
import { renderUsage } from './statements.ts';

const defaultLimit = 100;

export function createLanguageModelHandlers({
  db,
}: Pick<Dependencies, 'db'>): Pick<Handlers<typeof agents>, keyof typeof languageModelRpcs> {
  return {
    listUsage: async ({ slug, since, limit = defaultLimit }, { actor }) => {
      requireOpsReader(actor);
      return rawJson(`{"items":${(await renderUsage(db, { slug, since, limit })).json}}`);
    },
  };
}
