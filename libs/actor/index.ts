/**
 * Actors that cannot be forged: who acts is decided once, in the gateway, and travels as an assertion that it alone can sign and every
 * other part verifies (docs/adr/signed-actors.md).
 */
export { type ActorCodec, AssertionRejected, assertionLifetimeMs, rejectionReasons } from './assertion.ts';
export { type ActorKeys, generateActorKeys } from './keys.ts';
export { type ActorSigner, createActorSigner, requestName } from './signer.ts';
export { type ActorVerifier, createActorVerifier } from './verifier.ts';
