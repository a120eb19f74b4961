/** Actors of tests: a key pair for each environment, and a default actor. */
import { type ActorKeys, type ActorSigner, createActorSigner, createActorVerifier } from '#libs/infrastructure/actor';
import type { Actor, Rpc } from '#libs/infrastructure/contract';
import { type CallContext, newContext } from '#libs/infrastructure/nats';

/** An actor with all permissions. */
export const superuser: Extract<Actor, { kind: 'user' }> = Object.freeze({
  kind: 'user',
  accountId: 1,
  personId: null,
  superuser: true,
  globalEditor: true,
  coherenceAccess: true,
});

/** Creates a signer that signs like the gateway and a verifier that accepts these signatures. */
export function createTestActors({ signingKey, publicKey }: ActorKeys): ActorSigner {
  return { ...createActorSigner(signingKey), decode: createActorVerifier(publicKey).decode };
}

/**
 * Returns the context of a call by `actor`. Without `actor`, the call has no actor if the operation allows it,
 * otherwise the superuser.
 */
export function contextFor(rpc: Rpc, actor?: Actor): CallContext {
  const isOwn = actor === undefined && Object.values(rpc.callers).some((kinds) => kinds.includes('none'));
  return isOwn ? newContext() : { ...newContext(), actor: actor ?? superuser };
}
