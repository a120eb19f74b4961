/** Explains why a sign-in by the code flow failed, for operators and for the error page (S3; D105). */
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { AppError } from '#libs/infrastructure/errors';
import { OutboundError } from '#libs/infrastructure/outbound';

/** Reasons for rejecting a token, used in logs and metrics; clients only receive 401. */
export const tokenRejections = [
  'malformed',
  'algorithm',
  'type',
  'issuer',
  'audience',
  'expired',
  'early',
  'claims',
  'key',
  'signature',
] as const;
export type TokenRejection = (typeof tokenRejections)[number];

export class TokenRejectedError extends AppError {
  readonly refusal: TokenRejection;

  constructor(refusal: TokenRejection) {
    super({ code: 'unauthenticated', message: 'Authentication is required.' });
    this.refusal = refusal;
  }
}

export class SignInError extends AppError implements Reason {
  readonly failure: SignInFailure;
  readonly detail: string;

  constructor(
    { failure, detail }: Reason,
    options: ErrorOptions & { readonly code?: 'unauthenticated' | 'unavailable' } = {},
  ) {
    const { code = failure === 'away' ? 'unavailable' : 'unauthenticated', ...rest } = options;
    super({ code, message: 'The sign-in was not completed.' }, rest);
    this.failure = failure;
    this.detail = detail;
  }
}

/** Error codes of OAuth 2.0 and OpenID Connect that neither the user nor a retry can resolve. */
const misconfigured = new Set([
  'invalid_client',
  'unauthorized_client',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'unsupported_grant_type',
  'unsupported_response_type',
  'request_not_supported',
  'request_uri_not_supported',
  'registration_not_supported',
  'invalid_request_object',
]);
const away = new Set(['temporarily_unavailable', 'server_error', 'slow_down']);

/** Maps any error to a `SignInError`: `away`, `misconfigured` or `refused`. */
export function explainFailure(error: unknown): SignInError {
  if (error instanceof SignInError) return error;
  return new SignInError(findReason(error), { cause: error });
}

function findReason(error: unknown): Reason {
  if (error instanceof ProviderError) return error;
  if (error instanceof TokenRejectedError) {
    const isOurs = ['algorithm', 'issuer', 'audience'].includes(error.refusal);
    return { failure: isOurs ? 'misconfigured' : 'refused', detail: error.refusal };
  }
  if (error instanceof AppError) return { failure: error.retryable ? 'away' : 'refused', detail: error.code };
  if (error instanceof OutboundError) {
    const isOurs = error.kind === 'forbidden_address' || error.kind === 'invalid_url';
    return { failure: isOurs ? 'misconfigured' : 'away', detail: error.kind };
  }
  if (error instanceof AuthorizationResponseError) return ofCode(error.error);
  if (error instanceof ResponseBodyError) return ofStatus(error.status) ?? ofCode(error.error);
  if (error instanceof WWWAuthenticateChallengeError) {
    const [challenge] = error.cause;
    return ofStatus(error.status) ?? ofCode(challenge?.parameters.error ?? 'invalid_client');
  }
  if (error instanceof ClientError) return ofClient(error);
  return error instanceof Error && error.cause !== undefined
    ? findReason(error.cause)
    : { failure: 'refused', detail: 'unknown' };
}

/** Unknown codes can contain any text, so they are replaced by `unknown`. */
function ofCode(code: string): Reason {
  const detail = /^[a-z_]{1,64}$/.test(code) ? code : 'unknown';
  return { failure: away.has(code) ? 'away' : misconfigured.has(code) ? 'misconfigured' : 'refused', detail };
}

function ofStatus(status: number): Reason | undefined {
  return status >= 500 || status === 429 ? { failure: 'away', detail: `status_${status}` } : undefined;
}

function ofClient({ code = '', cause }: ClientError): Reason {
  if (cause instanceof Response && cause.status !== 200) {
    const detail = `status_${cause.status}`;
    return ofStatus(cause.status) ?? { failure: isJson(cause) ? 'misconfigured' : 'away', detail };
  }
  if (code === 'OAUTH_PARSE_ERROR' || code === 'OAUTH_RESPONSE_IS_NOT_JSON')
    return { failure: 'away', detail: 'no_json' };
  if (cause instanceof OutboundError) return findReason(cause);
  const claim = findClaim(cause);
  if (claim !== undefined)
    return { failure: claim === 'iss' || claim === 'aud' ? 'misconfigured' : 'refused', detail: claim };
  return { failure: 'refused', detail: code === '' ? 'unknown' : code.toLowerCase() };
}

const isJson = ({ headers }: Response): boolean => /\bjson\b/i.test(headers.get('content-type') ?? '');

/** Returns the name of the claim or parameter that did not match, as reported by the library. */
function findClaim(cause: unknown): string | undefined {
  for (let at: unknown = cause; typeof at === 'object' && at !== null; at = (at as { cause?: unknown }).cause) {
    const { claim, attribute } = at as { claim?: unknown; attribute?: unknown };
    const name = claim ?? attribute;
    if (typeof name === 'string' && /^\w{1,64}$/.test(name)) return name;
  }
  return undefined;
}

/** Failures of a sign-in at a provider, and errors of the provider's documents (S3; D105). */

/**
 * `away`: a retry may succeed soon. `misconfigured`: an operator has to change settings here or at the provider.
 * `refused`: the provider or the platform denied access.
 */
export const signInFailures = ['away', 'misconfigured', 'refused'] as const;
export type SignInFailure = (typeof signInFailures)[number];

export interface Reason {
  readonly failure: SignInFailure;
  /** The OAuth error code, the claim, or a fixed word for other causes; never text from a provider or browser. */
  readonly detail: string;
}

/** The provider's document is missing, or it does not permit a call to the provider. */
export class ProviderError extends Error implements Reason {
  readonly failure: SignInFailure;
  readonly detail: string;

  constructor({ failure, detail }: Reason, message: string) {
    super(message);
    this.failure = failure;
    this.detail = detail;
  }
}
