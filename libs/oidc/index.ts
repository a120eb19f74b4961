/** Sign-in by an identity provider (OpenID Connect; rules/access#identity-provider): whether its tokens are good, and whom they name. */
export { type CodeSignIn, createCodeSignIn, signInSeconds } from './code-sign-in.ts';
export { explainFailure, SignInFailed } from './sign-in-failure.ts';
export { signInFailures } from './provider-fault.ts';
export { createProvider, findUrlProblem } from './provider.ts';
export { createSigningKeys } from './signing-keys.ts';
export { createVerifier, TokenRefused, tokenRefusals, type Verifier } from './verifier.ts';
