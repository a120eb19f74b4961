/** Accounts of the open API, for superusers (W7, W19). */
import { route, Type } from '#libs/contract';
import { accountErrors, accountListQuery, accountUpdate, directory, newAccount } from '#services/directory';
import { ifMatch } from '../if-match.ts';

const root = '/api/v1/accounts';
const params = Type.Object({ account_id: Type.Integer({ description: 'Id of the account.' }) });
const { searchAccounts, getAccount, inviteAccount, updateAccount, deleteAccount } = directory.rpcs;

const invitation = Type.Object(
  {
    token: Type.String({ description: 'Returned only once. Valid for one use.' }),
    url: Type.String({ description: 'Page that sets the password with the token. Send it to the person.' }),
    expires_at: Type.String({ format: 'date-time', description: 'Expiry, 72 hours after the creation.' }),
  },
  { $id: 'Invitation', description: 'Sets the password of an account.' },
);

export const accountRoutes = [
  route({
    method: 'GET',
    path: root,
    operationId: 'listAccounts',
    tag: 'accounts',
    summary: 'List accounts',
    description: 'For superusers. Ordered by email.',
    auth: 'v1',
    scope: 'accounts:write',
    query: accountListQuery,
    rpc: searchAccounts,
    replies: { 200: { description: 'A page of accounts.', schema: searchAccounts.reply } },
  }),
  route({
    method: 'POST',
    path: root,
    operationId: 'createAccount',
    tag: 'accounts',
    summary: 'Create an account with an invitation',
    description:
      'For superusers. The account has no password until the invited person sets one at `url`. Of a service key, `accounts:write` is as powerful as `*`: it can create superusers.',
    auth: 'v1',
    scope: 'accounts:write',
    body: { schema: newAccount },
    handler: 'create-account',
    idempotent: true,
    status: 201,
    replies: {
      201: {
        description: 'The account and its invitation.',
        schema: Type.Object({ account: inviteAccount.reply.properties.account, invitation }),
      },
    },
    errors: accountErrors.create,
  }),
  route({
    method: 'GET',
    path: `${root}/{account_id}`,
    operationId: 'getAccount',
    tag: 'accounts',
    summary: 'Read one account',
    auth: 'v1',
    scope: 'accounts:write',
    params,
    rpc: getAccount,
    etag: true,
    replies: { 200: { description: 'The account.', schema: getAccount.reply } },
  }),
  route({
    method: 'POST',
    path: `${root}/{account_id}/update`,
    operationId: 'updateAccount',
    tag: 'accounts',
    summary: 'Change an account',
    description:
      'For superusers. Deactivating ends sessions, service keys and the invitation. Changed rights are effective immediately.',
    auth: 'v1',
    scope: 'accounts:write',
    params,
    headers: ifMatch('account'),
    body: { schema: accountUpdate },
    rpc: updateAccount,
    etag: true,
    toRequest: ({ params: { account_id: id }, body, headers }) => ({
      ...body,
      account_id: id,
      if_match: headers['If-Match'],
    }),
    replies: { 200: { description: 'The account and its changes.', schema: updateAccount.reply } },
  }),
  route({
    method: 'DELETE',
    path: `${root}/{account_id}`,
    operationId: 'deleteAccount',
    tag: 'accounts',
    summary: 'Delete an account',
    description: 'For superusers. Permanent. Ends sessions, service keys and the invitation; its person remains.',
    auth: 'v1',
    scope: 'accounts:write',
    params,
    headers: ifMatch('account'),
    rpc: deleteAccount,
    toRequest: ({ params: { account_id: id }, headers }) => ({ account_id: id, if_match: headers['If-Match'] }),
    status: 204,
    replies: { 204: { description: 'The account is deleted.' } },
  }),
  route({
    method: 'POST',
    path: `${root}/{account_id}/reset-password`,
    operationId: 'resetAccountPassword',
    tag: 'accounts',
    summary: 'Replace the password by an invitation',
    description: 'For superusers. Removes the password, and ends all sessions and the previous invitation.',
    auth: 'v1',
    scope: 'accounts:write',
    params,
    headers: ifMatch('account'),
    body: { schema: Type.Object({}), optional: true },
    handler: 'reset-account-password',
    idempotent: true,
    replies: { 200: { description: 'The new invitation.', schema: Type.Object({ invitation }) } },
    errors: accountErrors.reset,
  }),
];
