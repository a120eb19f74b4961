/** Actors of tests: a key pair for each environment, and who asks when a test does not care. */
import { type ActorKeys, type ActorSigner, createActorSigner, createActorVerifier } from '#libs/actor';
import type { Actor, Rpc } from '#libs/contract';
import { type CallContext, newContext } from '#libs/nats';

/** Somebody who may see and do everything. */
export const superuser: Actor = Object.freeze({
  kind: 'user',
  accountId: 1,
  personId: null,
  superuser: true,
  globalEditor: true,
  coherenceAccess: true,
});

/** Both sides: signs as the gateway does, and believes what it signs. */
export function createTestActors({ signingKey, publicKey }: ActorKeys): ActorSigner {
  return { ...createActorSigner(signingKey), decode: createActorVerifier(publicKey).decode };
}

/** The context of a call for `actor`; without one the call is made for nobody where the operation lets anybody do so, else for who may do everything. */
export function contextFor(rpc: Rpc, actor?: Actor): CallContext {
  const isOwn = actor === undefined && Object.values(rpc.callers).some((kinds) => kinds.includes('none'));
  return isOwn ? newContext() : { ...newContext(), actor: actor ?? superuser };
}
