/** `agents.usage.list`: what the language model cost. */
import { type Handler, rawJson } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { languageModelRpcs } from './contract.ts';
import { renderUsage } from './statements/usage.ts';

const defaultLimit = 100;

export function createListUsage(db: Database): Handler<typeof languageModelRpcs.listUsage> {
  return async ({ slug, since, limit = defaultLimit }) => rawJson(`{"items":${(await renderUsage(db, { slug, since, limit })).json}}`);
}
