/** Finds accounts by email or id. */
import { appError } from '#libs/infrastructure/errors';
import type { GetAccountReply } from '../clients/typescript/operations.ts';
import type { CliContext } from './context.ts';

export type Account = GetAccountReply['body']['account'];

/** @throws AppError `account_not_found`; 404 for an unknown id */
export async function findAccount(
  context: CliContext,
  emailOrId: string,
): Promise<{ readonly account: Account; readonly etag: string | undefined }> {
  const id = /^\d{1,10}$/.test(emailOrId) ? Number(emailOrId) : await findAccountId(context, emailOrId);
  const call = { path: { account_id: id } };
  const { body, headers } = await context.http((api) => api.getAccount(call), `account ${emailOrId}`);
  return { account: body.account, etag: headers.get('etag') ?? undefined };
}

/** @throws AppError `account_not_found` */
export async function findAccountId(context: CliContext, text: string): Promise<number> {
  const email = text.trim().toLowerCase();
  let cursor: string | undefined;
  do {
    const query = { q: email, limit: 200, ...(cursor === undefined ? {} : { cursor }) };
    const { items, next } = (await context.http((api) => api.listAccounts({ query }))).body;
    const found = items.find((account) => account.email.toLowerCase() === email);
    if (found !== undefined) return found.id;
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  throw appError('not_found', 'account_not_found', `No account has the email ${text.trim()}.`);
}
