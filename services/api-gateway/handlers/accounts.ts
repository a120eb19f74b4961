/** Handlers that add the token and the address of an invitation to the reply of the directory (W7, W19). */
import type { ReplyOf, Rpc } from '#libs/infrastructure/contract';
import type { HttpContext, RouteHandlers } from '#libs/infrastructure/http';
import { parseJson } from '#libs/infrastructure/json';
import type { RawReply } from '#libs/infrastructure/nats';
import { directory } from '#services/directory';
import { requireOwnHost } from '../console/session-cookie.ts';
import type { Dependencies } from '../dependencies.ts';
import type { accountRoutes } from '../routes/v1/accounts.ts';

export function createAccountHandlers({
  bus,
  invitations,
}: Pick<Dependencies, 'bus' | 'invitations'>): RouteHandlers<(typeof accountRoutes)[number]> {
  /** Reads a reply of bounded size. Sets the headers for its tag and for a replay. */
  const read = <R extends Rpc>(reply: RawReply, ctx: HttpContext): ReplyOf<R> => {
    if (reply.kind !== 'bytes') throw new Error('the reply with an invitation is a stream');
    if (reply.replayed === true) ctx.res.setHeader('Idempotent-Replayed', 'true');
    if (reply.etag !== undefined) ctx.res.setHeader('ETag', reply.etag);
    return parseJson(Buffer.from(reply.bytes).toString('utf8')) as ReplyOf<R>;
  };
  const address = (ctx: HttpContext, { seed, expires_at: expiresAt }: { seed: string; expires_at: string }) => {
    const token = invitations.tokenOf(seed);
    // The fragment is not sent to servers, so the token is in no log.
    return {
      token,
      url: `${requireOwnHost(ctx.req.headers).origin}/console/invitation#${token}`,
      expires_at: expiresAt,
    };
  };
  return {
    'create-account': async ({ ctx, input, call, answer }) => {
      const request = { ...input.body, ...invitations.create() };
      const reply = await bus.callRaw(directory.rpcs.inviteAccount, request, call);
      const { account, invitation } = read<typeof directory.rpcs.inviteAccount>(reply, ctx);
      answer({ account, invitation: address(ctx, invitation) });
    },
    'reset-account-password': async ({ ctx, input, call, answer }) => {
      const request = { ...input.params, if_match: input.headers['If-Match'], ...invitations.create() };
      const reply = await bus.callRaw(directory.rpcs.resetAccountPassword, request, call);
      const { invitation } = read<typeof directory.rpcs.resetAccountPassword>(reply, ctx);
      answer({ invitation: address(ctx, invitation) });
    },
  };
}
