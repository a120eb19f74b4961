/** `people export` of the admin CLI: the part of agents. */
import { jsonPage, type Handler } from '#libs/nats';
import type { Queryable } from '#libs/sql';
import { mayContainThoughts, dropThoughtsOf } from '../recorded-answer.ts';
import type { personDataRpcs } from './contract.ts';
import { listMessagesOf } from './statements.ts';

const itemsPerPage = 500;

export function createExportPerson(db: Queryable): Handler<typeof personDataRpcs.exportPerson> {
  return async ({ visitor_ids: visitors, telegram_user_ids: users, account_ids: accounts = [], after }) => {
    const rows = await listMessagesOf(db, { visitors, users: users.map(String), accounts, after, limit: itemsPerPage });
    const next = rows.length < itemsPerPage ? null : (rows.at(-1)?.id ?? null);
    return jsonPage(
      rows.map(({ item }) => (mayContainThoughts(item) ? withoutThoughts(item) : item)),
      next,
    );
  };
}

function withoutThoughts(json: string): string {
  const item = JSON.parse(json) as { readonly note_type: string; readonly body: string };
  return item.note_type === 'chat_agent' ? JSON.stringify({ ...item, body: dropThoughtsOf(item.body) }) : json;
}
