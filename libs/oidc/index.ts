/** Sign-in by an identity provider (OpenID Connect; rules/access#identity-provider): whether its tokens are good, and whom they name. */
export { type CodeSignIn, createCodeSignIn, signInSeconds } from './code-sign-in.ts';
export { explainFailure, SignInFailed } from './sign-in-failure.ts';
export { signInFailures } from './provider-fault.ts';
export { createProvider, findUrlProblem, type Provider } from './provider.ts';
export { createSigningKeys, type SigningKeys } from './signing-keys.ts';
export {
  createVerifier,
  type Identity,
  type TokenRefusal,
  TokenRefused,
  tokenRefusals,
  type VerifiedToken,
  type Verifier,
} from './verifier.ts';
