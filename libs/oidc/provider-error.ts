/** Why signing in at a provider can fail, and the errors of its documents (S3; D105). */

/** `away`: it may work in a moment. `misconfigured`: an operator has to change something, here or at the provider. `refused`: the provider or the platform said no. */
export const signInFailures = ['away', 'misconfigured', 'refused'] as const;
export type SignInFailure = (typeof signInFailures)[number];

export interface Reason {
  readonly failure: SignInFailure;
  /** The error code of OAuth, the claim, or a word for what else it was; never text that a provider or browser chose. */
  readonly detail: string;
}

/** What a provider's document, or its absence, says against asking it. */
export class ProviderError extends Error implements Reason {
  readonly failure: SignInFailure;
  readonly detail: string;

  constructor({ failure, detail }: Reason, message: string) {
    super(message);
    this.failure = failure;
    this.detail = detail;
  }
}
