/**
 * Sign-in by an identity provider (OpenID Connect; rules/access#identity-provider): verifies its tokens and returns the
 * identity.
 */
export { refreshDeviceTokens, signInWithDevice } from './device-sign-in.ts';
export { type CodeSignIn, createCodeSignIn, signInSeconds } from './code-sign-in.ts';
export { explainFailure, SignInError } from './sign-in-error.ts';
export { signInFailures } from './sign-in-error.ts';
export { createProvider, findUrlProblem } from './provider.ts';
export { createSigningKeys } from './signing-keys.ts';
export { createVerifier, type Verifier } from './verifier.ts';
export { TokenRejectedError, tokenRejections } from './sign-in-error.ts';
